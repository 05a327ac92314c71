"""The service's keys from its pinned DID document: the root of trust."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import ed25519
from .arguments import checked, checked_but
from .errors import Refused
from .identifiers import decode_multikey, is_did_web, parse_time
from .jws import Parts
from .strict_json import Json, parse_json

_KEY_NUMBER = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True)
class _Key:
    key: bytes
    from_ms: int | None
    until_ms: int | None
    is_compromised: bool


class ServiceKeys:
    """Keys of one service. Obtain the document once over a trusted channel from ``/.well-known/did.json``."""

    @checked_but("did_document")
    def __init__(self, did_document: str | bytes | Mapping[str, Any], service_did: str | None = None) -> None:
        """
        Args:
            service_did: The DID that the document must have.

        Raises:
            Refused: ``malformed-did-document``, ``wrong-service``.
        """
        document = _read_document(did_document)
        did = document.get("id")
        if not isinstance(did, str) or not is_did_web(did):
            raise Refused("malformed-did-document", "the id of the DID document must be a did:web DID")
        if service_did is not None and did != service_did:
            raise Refused("wrong-service", f"the DID document is of {did}, not of {service_did}")
        self.did = did
        self._methods: dict[str, list[Mapping[str, Any]]] = {}
        for method in _list(document.get("verificationMethod")):
            kid = self._absolute(method.get("id")) if isinstance(method, dict) else None
            if kid is not None:
                self._methods.setdefault(kid, []).append(method)
        self._asserted = {self._absolute(entry) for entry in _list(document.get("assertionMethod"))}

    def _absolute(self, identifier: Any) -> str | None:
        if not isinstance(identifier, str):
            return None
        return f"{self.did}{identifier}" if identifier.startswith("#") else identifier

    def kids(self) -> list[str]:
        """The ids of all keys, whatever their purpose."""
        return list(self._methods)

    @checked
    def check(self, purpose: str, kid: str, jws: Parts, signed_at_ms: int | None) -> str | None:
        """Verifies a signature. Returns why its date is outside the key's time, or None if it is not.

        Args:
            purpose: ``receipt``, or ``status`` for status lists, checkpoints and attestations.
            signed_at_ms: The date in the signed content; None if something else vouches for it.

        Raises:
            Refused: ``wrong-service``, ``unknown-key``, ``wrong-key``, ``unusable-key``, ``wrong-signature``.
        """
        key = self._find(kid, purpose)
        if not ed25519.verify(key.key, jws.signing_input, jws.signature):
            if ed25519.is_strict_public_key(key.key):
                raise Refused("wrong-signature", f"the signature does not verify under {kid}")
            raise Refused("unusable-key", f"{kid} must be canonical, torsion-free and not of small order")
        if signed_at_ms is None:
            return None
        if key.is_compromised:
            return f"{kid} is compromised, so that no date under it counts"
        if key.from_ms is not None and signed_at_ms < key.from_ms:
            return f"{kid} was not yet in force"
        if key.until_ms is not None and signed_at_ms >= key.until_ms:
            return f"{kid} was in force no longer"
        return None

    def _find(self, kid: str, purpose: str) -> _Key:
        if not kid.startswith(f"{self.did}#"):
            raise Refused("wrong-service", f"the kid {kid!r} is not of the pinned service {self.did}")
        fragment = kid[len(self.did) + 1 :]
        if not fragment.startswith(f"{purpose}-") or _KEY_NUMBER.fullmatch(fragment[len(purpose) + 1 :]) is None:
            raise Refused("wrong-key", f"the kid must be {self.did}#{purpose}-<n>, not {kid!r}")
        methods = self._methods.get(kid, [])
        if len(methods) > 1:
            raise Refused("unusable-key", f"the DID document has several verification methods {kid}")
        if not methods:
            why = f"the DID document has no verification method {kid}; it may be older than the key"
            raise Refused("unknown-key", why)
        if kid not in self._asserted:
            raise Refused("wrong-key", f"the DID document does not list {kid} under assertionMethod")
        method = methods[0]
        key = decode_multikey(method.get("publicKeyMultibase"))
        if method.get("type") != "Multikey" or method.get("controller") != self.did or key is None:
            raise Refused("unusable-key", f"{kid} must be an Ed25519 Multikey that {self.did} controls")
        bounds = [
            parse_time(method[name]) if name in method else None for name in ("svc:validFrom", "svc:validUntil")
        ]
        if any(name in method and parse_time(method[name]) is None for name in ("svc:validFrom", "svc:validUntil")):
            raise Refused("unusable-key", f"{kid} must say by RFC 3339 times in UTC when it is in force")
        return _Key(key, bounds[0], bounds[1], "revoked" in method)


def _read_document(document: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    value: Json | Mapping[str, Any] = document if isinstance(document, Mapping) else None
    if isinstance(document, (str, bytes)):
        try:
            value = parse_json(document) if len(document) <= 1_048_576 else None
        except Refused as problem:
            raise Refused("malformed-did-document", str(problem)) from None
    if not isinstance(value, Mapping):
        raise Refused("malformed-did-document", "the DID document must be a JSON object")
    for name, what in (("did_document", "bundle"), ("receipt_id", "Receipt")):
        if name in value:
            raise Refused("malformed-did-document", f"this is a {what}; the document is served at /.well-known/did.json")
    return value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
