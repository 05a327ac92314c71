"""Compact JWS (RFC 7515 §7.1) in the only form that the protocol allows (§1)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import base64url
from .arguments import check_values, checked
from .errors import InvalidArgument, Refused
from .identifiers import encode_multikey
from .jcs import canonicalize
from .strict_json import Json, has_surrogate, parse_json


@checked
def sha256(data: str | bytes) -> str:
    """``sha256:`` and lower-case hex, over the exact bytes."""
    if isinstance(data, str) and has_surrogate(data):
        raise InvalidArgument("a text with half a surrogate pair has no bytes")
    return f"sha256:{hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()}"


@dataclass(frozen=True)
class Signer:
    """Signs under a ``kid``. ``sign`` may call a key management service."""

    kid: str
    sign: Callable[[bytes], bytes]

    def __post_init__(self) -> None:
        check_values({"kid": self.kid, "sign": self.sign}, {"kid": str, "sign": Callable[[bytes], bytes]})

    @staticmethod
    @checked
    def from_seed(seed: bytes, kid: str) -> Signer:
        """A signer with a key from its 32-byte seed (RFC 8032 §5.1.5). For a Principal, ``kid`` is ``did:web:…#key-1``."""
        return Signer(kid, _key_of(seed).sign)


@dataclass(frozen=True)
class Agent(Signer):
    """An Agent's key; ``did`` is its did:key."""

    did: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_values({"did": self.did}, {"did": str})

    @staticmethod
    @checked
    def from_seed(seed: bytes, kid: str | None = None) -> Agent:
        """An Agent with a key from its 32-byte seed; did and kid are derived from it."""
        key = _key_of(seed)
        multikey = encode_multikey(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        return Agent(f"did:key:{multikey}#{multikey}", key.sign, f"did:key:{multikey}")


def _key_of(seed: bytes) -> Ed25519PrivateKey:
    if len(seed) != 32:
        raise InvalidArgument(f"the seed of an Ed25519 key has 32 bytes, not {len(seed)}")
    return Ed25519PrivateKey.from_private_bytes(seed)


@dataclass(frozen=True)
class Parts:
    """A decoded JWS. Nothing in it has been verified."""

    header_text: str
    payload_text: str
    signing_input: bytes
    signature: bytes


@dataclass(frozen=True)
class Jws(Parts):
    """The same, with header and payload parsed."""

    header: dict[str, Json]
    payload: dict[str, Json]


def sign_jws(signer: Signer, typ: str, payload: dict[str, Any]) -> str:
    """Signs the RFC 8785 form under ``{alg, kid, typ}``: the same input and key always give the same text."""
    header = canonicalize({"alg": "EdDSA", "kid": signer.kid, "typ": typ})
    signing_input = f"{base64url.encode(header.encode())}.{base64url.encode(canonicalize(payload).encode())}"
    signature = signer.sign(signing_input.encode())
    if not isinstance(signature, bytes) or len(signature) != 64:
        raise InvalidArgument("the signer returned other than 64 bytes")
    return f"{signing_input}.{base64url.encode(signature)}"


def split_jws(text: str, max_chars: int) -> Parts:
    """Three parts of canonical base64url, the first two of UTF-8 text; ``Refused('malformed-jws')`` otherwise."""
    parts = text.split(".")
    if len(text) > max_chars or len(parts) != 3:
        raise Refused("malformed-jws", f"not three parts in at most {max_chars} characters")
    header_text, payload_text = base64url.decode_text(parts[0]), base64url.decode_text(parts[1])
    signature = base64url.decode(parts[2])
    if header_text is None or payload_text is None or signature is None:
        raise Refused("malformed-jws", "a part is not canonical base64url of UTF-8")
    return Parts(header_text, payload_text, f"{parts[0]}.{parts[1]}".encode(), signature)


def parse_jws(text: str, max_chars: int) -> Jws:
    """The same with strict JSON objects as header and payload."""
    parts = split_jws(text, max_chars)
    return Jws(**vars(parts), header=_object(parts.header_text, "header"), payload=_object(parts.payload_text, "payload"))


def _object(text: str, part: str) -> dict[str, Json]:
    try:
        value = parse_json(text)
    except Refused as problem:
        raise Refused("malformed-jws", f"{part}: {problem}") from None
    if not isinstance(value, dict):
        raise Refused("malformed-jws", f"{part}: not an object")
    return value


def exact_kid(jws: Jws, typ: str) -> str:
    """The kid of a header that has exactly alg EdDSA, kid and typ in canonical form, as the service signs it."""
    kid = jws.header.get("kid")
    if not isinstance(kid, str) or jws.header_text != canonicalize({"alg": "EdDSA", "kid": kid, "typ": typ}):
        raise Refused("wrong-header", f"the header must be exactly alg EdDSA, kid and typ {typ}")
    return kid
