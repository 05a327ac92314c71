"""RFC 8785: one text for each value, so that the value can be hashed, signed and compared."""

from __future__ import annotations

import json
import math

from .errors import InvalidArgument
from .strict_json import MAX_INTEGER, Json, has_surrogate

_MAX_DEPTH = 64
_encode_string = json.JSONEncoder(ensure_ascii=False).encode


def canonicalize(value: Json) -> str:
    """The canonical text of plain JSON.

    Raises:
        InvalidArgument: For a value without such a text: NaN, an infinity, an integer beyond 2^53−1, a lone surrogate,
            nesting deeper than 64, or an object that is not JSON.
    """
    return _text(value, 0)


def _text(value: Json, depth: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise InvalidArgument("integer beyond 2^53-1: another reader would round it")
        return str(int(value))
    if isinstance(value, float):
        return _number(value)
    if depth >= _MAX_DEPTH:
        raise InvalidArgument("nested too deep")
    if isinstance(value, list):
        return "[" + ",".join([_text(item, depth + 1) for item in value]) + "]"
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        # Sorted by UTF-16 code units, as ECMAScript compares.
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join([f"{_string(name)}:{_text(value[name], depth + 1)}" for name in names]) + "}"
    raise InvalidArgument(f"{type(value).__name__} is not JSON")


def _string(text: str) -> str:
    if has_surrogate(text):
        raise InvalidArgument("lone surrogate")
    return _encode_string(text)


def _number(value: float) -> str:
    """ECMAScript ``Number::toString``. Python finds the same shortest digits and only formats them differently."""
    if not math.isfinite(value):
        raise InvalidArgument("number not finite")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = f"{abs(value)!r}e0".split("e")[:2]
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The number is 0.DIGITS times 10 to the `point`.
    point = len(whole) + int(exponent) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{point - 1:+d}"
    return sign + digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "") + power
