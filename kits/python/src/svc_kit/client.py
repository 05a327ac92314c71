"""Calls of the service: verifying for relying parties, issuing and revoking for Principals. Fails closed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import Refused, ServiceError
from .identifiers import is_grant_id, is_sha256, parse_instant
from .jws import Signer, sha256
from .receipt import Document, VerifiedReceipt, open_keys, verify_signed
from .service_keys import ServiceKeys
from .tokens import check_action, request_hash, sign_grant
from .transport import Transport

_CLOCK_BEHIND_MS = 30_000
_CLOCK_AHEAD_MS = 5_000


@dataclass(frozen=True)
class Decision:
    """What the service decided, checked. Act only where ``allowed``."""

    allowed: bool
    reason: str | None
    """Why not; null where allowed."""
    receipt: dict[str, Any]


class RelyingParty:
    """Asks before it acts.

    Example:
        >>> shop = RelyingParty(base_url, api_key, did_document, relying_party="did:web:shop.example")  # doctest: +SKIP
        >>> shop.verify(grant, proof, action, method="POST", url="https://shop.example/checkout").allowed  # doctest: +SKIP
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        did_document: Document | ServiceKeys,
        relying_party: str,
        *,
        service_did: str | None = None,
        timeout_seconds: float = 5.0,
    ) -> None:
        """
        Args:
            did_document: The service's, pinned: whose Receipts are believed.
            relying_party: Your did:web DID.
        """
        self._transport = Transport(base_url, api_key, timeout_seconds)
        self._keys = open_keys(did_document, service_did)
        self._relying_party = relying_party

    def verify(
        self,
        grant: str,
        proof: str,
        action: Mapping[str, Any],
        *,
        method: str,
        url: str,
        now: Callable[[], float] = time.time,
    ) -> Decision:
        """A decision on the HTTP request in hand: its method, and its absolute URL as the Agent addressed it.

        Raises:
            ServiceError: No decision was made, or none is known. The Proof may be spent.
            Refused: The answer is no Receipt of the service about this request. Never act on it.
        """
        checked = check_action(dict(action))
        began_ms = now() * 1000
        body = {"grant": grant, "proof": proof, "action": checked}
        answer = self._transport.post("/verify", body, {"Idempotency-Key": secrets.token_urlsafe(24)})
        signed = verify_signed(answer, self._keys)
        if signed.untimely is not None:
            raise Refused("key-not-in-force", signed.untimely)
        self._check_binding(signed.verified, grant, proof, request_hash(checked, method, url))
        at = parse_instant(signed.verified.receipt["evaluated_at"]) or 0
        if not began_ms - _CLOCK_BEHIND_MS <= at <= now() * 1000 + _CLOCK_AHEAD_MS:
            raise Refused("old-answer", "the Receipt was not evaluated during this call, by the clock here")
        return Decision(signed.verified.decision == "ALLOW", signed.verified.receipt["reason"], signed.verified.receipt)

    def _check_binding(self, verified: VerifiedReceipt, grant: str, proof: str, asked: str | None) -> None:
        receipt = verified.receipt
        for code, right in (
            ("grant-hash", receipt["grant_hash"] == sha256(grant)),
            ("proof-hash", receipt["proof_hash"] == sha256(proof)),
            ("relying-party", receipt["relying_party"] == self._relying_party),
            # Of a DENY it does not matter what the Agent signed for.
            ("request-hash", verified.decision == "DENY" or (is_sha256(asked) and receipt["request_hash"] == asked)),
        ):
            if not right:
                raise Refused(code, "the Receipt is about something else than what was asked")


class Principal:
    """Issues and revokes Grants. The signing key stays here."""

    def __init__(self, base_url: str, api_key: str, signer: Signer, *, timeout_seconds: float = 5.0) -> None:
        self._transport = Transport(base_url, api_key, timeout_seconds)
        self._signer = signer

    def issue(
        self,
        agent: str,
        capabilities: list[dict[str, Any]],
        *,
        audience: list[str] | None = None,
        valid_from: int | None = None,
        lifetime_seconds: int = 30 * 86_400,
    ) -> str:
        """Reserves an id and a status entry for the Agent's did:key, and signs the Grant. See ``sign_grant``."""
        allocation = self._transport.post("/grants", {"agent": agent})
        if allocation.get("agent") != agent:
            raise ServiceError("the service allocated the Grant to another Agent")
        return sign_grant(
            self._signer,
            allocation,
            capabilities=capabilities,
            audience=audience,
            valid_from=valid_from,
            lifetime_seconds=lifetime_seconds,
        )

    def revoke(self, grant_id: str, *, patience_seconds: float = 15.0) -> str:
        """Returns ``revoked_at`` once the revocation is in force everywhere. Repeated where it was only recorded (503).

        Raises:
            ServiceError: The Grant may still be in force: call again.
        """
        if not is_grant_id(grant_id):
            raise ValueError("grant_id must be urn:svc:grant: and 26 characters, not the Grant")
        answer = self._transport.post("/revoke", {"grant_id": grant_id}, timeout_seconds=patience_seconds)
        if answer.get("grant_id") != grant_id or answer.get("revoked") is not True:
            raise ServiceError("the service answered about another Grant")
        return str(answer["revoked_at"])
