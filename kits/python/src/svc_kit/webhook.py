"""Verifies webhooks as they arrive (Standard Webhooks 1.0.0; protocol §15).

A webhook is authentic if these exact bytes were recently signed with a secret of the subscription, or by the service
under its DID document.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from .arguments import checked, read_clock
from .errors import InvalidArgument, Refused
from .jws import Parts
from .service_keys import ServiceKeys
from .strict_json import has_surrogate, parse_json

_MAX_BODY_BYTES = 65_536
_MAX_SIGNATURES = 16
_MAX_TOLERANCE_SECONDS = 86_400
_SECRET = re.compile(r"whsec_([A-Za-z0-9+/]{32,88}={0,2})")
_TIME = re.compile(r"[0-9]{1,12}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


@runtime_checkable
class Headers(Protocol):
    """A dict, or the equivalent of a framework: names in upper or lower case, each with one text or several."""

    def items(self) -> Iterable[tuple[str, str | Sequence[str]]]: ...


@dataclass(frozen=True)
class WebhookEvent:
    """What happened, and to what. An event may arrive more than once: handle each ``id`` once."""

    id: str
    type: str
    timestamp: str
    """When it happened: RFC 3339, UTC."""
    subscription_id: str
    data: dict[str, Any]
    """Ids; the members depend on the type."""


@checked
def verify_webhook(
    headers: Headers,
    body: bytes | str,
    *,
    secret: str | Sequence[str] | None = None,
    keys: ServiceKeys | None = None,
    subscription_id: str | None = None,
    tolerance_seconds: int = 300,
    now: Callable[[], float] = time.time,
) -> WebhookEvent:
    """Verifies a request and returns its event. Answer 204 within 15 seconds, and 400 if this raises ``Refused``.

    Args:
        headers: Names in upper or lower case.
        body: As received, not the result of a JSON parser.
        secret: ``whsec_…`` of the subscription; both secrets during a rotation.
        keys: The service's, pinned. With them ``v1a`` signatures are accepted. The service's key signs for all endpoints,
            so ``subscription_id`` is required with them.

    Raises:
        Refused: ``webhook-invalid``: the webhook is not authentic.
        InvalidArgument: A secret is invalid, nothing to trust was given, or the body was already parsed.
    """
    secrets = [_secret_bytes(one) for one in ([secret] if isinstance(secret, str) else secret or [])]
    if len(secrets) > 2 or not (secrets or keys):
        raise InvalidArgument("give one or two secrets, or the keys of the service, or both")
    if keys is not None and subscription_id is None:
        raise InvalidArgument("keys need subscription_id beside them")
    if not 1 <= tolerance_seconds <= _MAX_TOLERANCE_SECONDS:
        raise InvalidArgument(f"tolerance_seconds must be 1 to {_MAX_TOLERANCE_SECONDS}")
    event_id, at, signature = (_header(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    # Full stops separate the parts of the signed text, so an id must not contain one.
    if "." in event_id or has_surrogate(event_id):
        raise _invalid("webhook-id has a full stop, or is no text")
    if _TIME.fullmatch(at) is None or abs(int(at) - read_clock(now)) > tolerance_seconds:
        raise _invalid("webhook-timestamp is no time in seconds, or too far from this machine's clock")
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if len(data) > _MAX_BODY_BYTES:
        raise _invalid(f"the body has more than {_MAX_BODY_BYTES} bytes")
    signed = f"{event_id}.{at}.".encode() + data
    signatures = signature.split(" ")[:_MAX_SIGNATURES]
    if not _is_of_secret(signed, signatures, secrets) and not _is_of_service(signed, signatures, int(at) * 1000, keys):
        raise _invalid("no signature is by what is trusted")
    return _read_event(event_id, data, subscription_id)


def _invalid(problem: str) -> Refused:
    return Refused("webhook-invalid", problem)


def _secret_bytes(secret: str) -> bytes:
    found = _SECRET.fullmatch(secret)
    decoded = None if found is None else _bytes_of(found[1])
    if decoded is None:
        raise InvalidArgument("a secret must be whsec_ and base64 of 24 to 64 bytes")
    return decoded


def _bytes_of(text: str) -> bytes | None:
    """Base64, padded or not."""
    bare = text.rstrip("=")
    if _BASE64.fullmatch(text) is None or len(bare) % 4 == 1 or (bare != text and len(text) % 4 != 0):
        return None
    return base64.b64decode(bare + "=" * (-len(bare) % 4))


def _header(headers: Headers, name: str) -> str:
    found: list[Any] = []
    for key, value in headers.items():
        if isinstance(key, str) and key.lower() == name:
            found += value if isinstance(value, (list, tuple)) else [value]
    if len(found) != 1 or not isinstance(found[0], str) or found[0] == "":
        raise _invalid(f"the header {name} is missing, or stands more than once")
    return str(found[0])


def _signatures_of(version: str, signatures: Sequence[str]) -> list[bytes]:
    """Ignores signatures of other versions."""
    decoded = (_bytes_of(one[len(version) + 1 :]) for one in signatures if one.startswith(f"{version},"))
    return [one for one in decoded if one is not None]


def _is_of_secret(signed: bytes, signatures: Sequence[str], secrets: Sequence[bytes]) -> bool:
    candidates = _signatures_of("v1", signatures)
    expected = [hmac.new(secret, signed, hashlib.sha256).digest() for secret in secrets]
    return any([hmac.compare_digest(one, candidate) for one in expected for candidate in candidates])


def _is_of_service(signed: bytes, signatures: Sequence[str], at_ms: int, keys: ServiceKeys | None) -> bool:
    """Whether a status key in force at that time signed it. ``v1a`` does not name the key, so each of the few is tried."""
    candidates = _signatures_of("v1a", signatures)
    if keys is None or len(candidates) != 1:
        return False
    parts = Parts("", "", signed, candidates[0])
    return any(_is_by(keys, kid, parts, at_ms) for kid in keys.kids())


def _is_by(keys: ServiceKeys, kid: str, parts: Parts, at_ms: int) -> bool:
    try:
        return keys.check("status", kid, parts, at_ms) is None
    except Refused:
        return False


def _read_event(event_id: str, data: bytes, subscription_id: str | None) -> WebhookEvent:
    try:
        body = parse_json(data)
    except Refused:
        body = None
    if not isinstance(body, dict):
        raise _invalid("the body is no JSON object")
    kind, at, to, about = (body.get(name) for name in ("type", "timestamp", "subscription_id", "data"))
    if not (isinstance(kind, str) and isinstance(at, str) and isinstance(to, str) and isinstance(about, dict)):
        raise _invalid("the body is no event")
    if subscription_id is not None and to != subscription_id:
        raise _invalid("it was sent to another subscription")
    return WebhookEvent(event_id, kind, at, to, about)
