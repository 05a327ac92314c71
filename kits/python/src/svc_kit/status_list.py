"""Status lists (Bitstring Status List 1.0; protocol §9)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import base64url
from .arguments import checked, checked_but
from .errors import InvalidArgument, Refused
from .identifiers import parse_time
from .jws import exact_kid, parse_jws
from .receipt import open_keys
from .service_keys import ServiceKeys

MIN_ENTRIES = 131_072
_MAX_BYTES = 1_048_576
_MAX_CHARS = -(-(_MAX_BYTES + _MAX_BYTES // 256 + 64) * 4 // 3)


def decode_bitstring(text: str) -> bytes | None:
    """The bits of an encoded list (``u`` and base64url of one gzip member), or None; at most 1 MiB."""
    if not text.startswith("u") or len(text) > _MAX_CHARS:
        return None
    member = base64url.decode(text[1:])
    # The header must have no optional fields, so that everything that is read has a meaning here.
    if member is None or len(member) < 18 or member[:3] != b"\x1f\x8b\x08" or member[3] != 0:
        return None
    inflate = zlib.decompressobj(wbits=31)
    try:
        bits = inflate.decompress(member, _MAX_BYTES + 1)
    except zlib.error:
        return None
    is_whole = inflate.eof and not inflate.unused_data and not inflate.unconsumed_tail
    return bits if is_whole and MIN_ENTRIES // 8 <= len(bits) <= _MAX_BYTES else None


def is_set(bits: bytes, index: int) -> bool:
    """Whether the entry at ``index`` is set; the left-most bit is entry 0.

    Raises:
        InvalidArgument: There is no such entry. A missing entry must never read as valid.
    """
    if not 0 <= index < len(bits) * 8:
        raise InvalidArgument(f"the status list has no entry {index}")
    return bits[index >> 3] & (0x80 >> (index & 7)) != 0


@dataclass(frozen=True)
class StatusList:
    """A Bitstring Status List that the service signed."""

    url: str
    valid_from: str
    bits: bytes

    @checked
    def is_revoked(self, index: int) -> bool:
        return is_set(self.bits, index)


@checked_but("did_document")
def verify_status_list(
    credential: str, did_document: str | bytes | Mapping[str, Any] | ServiceKeys, *, service_did: str | None = None
) -> StatusList:
    """Verifies a list as ``GET /status-lists/…`` serves it. The caller must check ``valid_from`` for its age.

    Raises:
        Refused: ``malformed-jws``, ``wrong-header``, ``malformed-status-list``, or a fault of key or signature.
    """
    keys = open_keys(did_document, service_did)
    jws = parse_jws(credential, _MAX_CHARS * 2)
    kid = exact_kid(jws, "vc+jwt")
    claims: Any = jws.payload
    bits = decode_bitstring(claims["credentialSubject"]["encodedList"]) if _is_credential(claims, keys.did) else None
    if bits is None:
        raise Refused("malformed-status-list", "the payload must be a Bitstring Status List credential of the service")
    untimely = keys.check("status", kid, jws, parse_time(claims["validFrom"]))
    if untimely is not None:
        raise Refused("key-not-in-force", untimely)
    return StatusList(claims["id"], claims["validFrom"], bits)


def _is_credential(claims: Any, issuer: str) -> bool:
    members = {"@context", "id", "type", "issuer", "validFrom", "credentialSubject"}
    subject = claims.get("credentialSubject")
    if set(claims) - {"validUntil"} != members or not isinstance(subject, dict):
        return False
    if set(subject) != {"id", "type", "statusPurpose", "encodedList", "ttl"}:
        return False
    times = [claims["validFrom"], *([claims["validUntil"]] if "validUntil" in claims else [])]
    ttl = subject["ttl"]
    return (
        claims["@context"] == ["https://www.w3.org/ns/credentials/v2"]
        and claims["type"] == ["VerifiableCredential", "BitstringStatusListCredential"]
        and isinstance(claims["id"], str)
        and claims["id"] != ""
        and claims["issuer"] == issuer
        and all(parse_time(time) is not None for time in times)
        and subject["id"] == f"{claims['id']}#list"
        and subject["type"] == "BitstringStatusList"
        and subject["statusPurpose"] == "revocation"
        and isinstance(subject["encodedList"], str)
        and isinstance(ttl, int)
        and not isinstance(ttl, bool)
        and ttl >= 0
    )
