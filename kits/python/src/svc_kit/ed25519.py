"""Strict Ed25519 (RFC 8032; protocol §1).

With a key of small order one signature is valid for every message, and verifiers differ on torsion and on non-canonical
encodings. A key or signature on which they differ is refused here. Then OpenSSL, which alone is not strict enough, checks
the cofactorless equation. All computations use public data only, so nothing is constant-time.
"""

from __future__ import annotations

from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_OF_MINUS_1 = pow(2, (_P - 1) // 4, _P)
# The y coordinates of the eight points whose order divides 8: five, because (x, y) and (-x, y) share one.
_SMALL_ORDER_Y = frozenset(
    {
        0,
        1,
        _P - 1,
        int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
        int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
    }
)

# X, Y, Z, T: x = X/Z, y = Y/Z, xy = T/Z.
_Point = tuple[int, int, int, int]


def is_strict_public_key(key: bytes) -> bool:
    """Whether these are 32 bytes that canonically encode a point of the prime-order group other than the neutral one."""
    return len(key) == 32 and _is_canonical_of_large_order(key) and _is_torsion_free(key)


@lru_cache(maxsize=10_000)
def _is_torsion_free(key: bytes) -> bool:
    point = _decode(key)
    return point is not None and _is_neutral(_multiply(_L, point))


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is strict (S < L, R canonical and not of small order) and by a strict key."""
    if len(signature) != 64 or int.from_bytes(signature[32:], "little") >= _L:
        return False
    if not _is_canonical_of_large_order(signature[:32]) or not is_strict_public_key(key):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _is_canonical_of_large_order(encoded: bytes) -> bool:
    """Whether y < p and y is not that of a point of small order. The other non-canonical form, x = 0 with a sign, has y = ±1."""
    y = int.from_bytes(encoded, "little") & (2**255 - 1)
    return y < _P and y not in _SMALL_ORDER_Y


def _decode(encoded: bytes) -> _Point | None:
    """RFC 8032 §5.1.3; None for a point off the curve."""
    number = int.from_bytes(encoded, "little")
    y, sign = number & (2**255 - 1), number >> 255
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    if (v * x * x - u) % _P != 0:
        x = x * _SQRT_OF_MINUS_1 % _P
        if (v * x * x - u) % _P != 0:
            return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _add(a: _Point, b: _Point) -> _Point:
    """RFC 8032 §5.1.4. The formula is complete, so it also doubles a point."""
    e1 = (a[1] - a[0]) * (b[1] - b[0]) % _P
    e2 = (a[1] + a[0]) * (b[1] + b[0]) % _P
    e3 = 2 * a[3] * b[3] * _D % _P
    e4 = 2 * a[2] * b[2] % _P
    e, f, g, h = e2 - e1, e4 - e3, e4 + e3, e2 + e1
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(factor: int, point: _Point) -> _Point:
    total: _Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            total = _add(total, point)
        point = _add(point, point)
        factor >>= 1
    return total


def _is_neutral(point: _Point) -> bool:
    return point[0] % _P == 0 and (point[1] - point[2]) % _P == 0
