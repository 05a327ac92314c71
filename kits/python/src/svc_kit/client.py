"""Calls of the service: relying parties verify, Principals issue and revoke. Every failure is an exception, never an
ALLOW.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .arguments import LEFT_OUT, LeftOut, checked, checked_but, read_clock
from .errors import InvalidArgument, Refused, ServiceError
from .htu import normalize_htu
from .identifiers import is_did_web, is_grant_id, is_method, is_receipt_id, is_sha256, parse_instant, parse_time
from .jws import Signer, sha256
from .receipt import Document, VerifiedReceipt, open_keys, verify_signed
from .service_keys import ServiceKeys
from .tokens import check_action, parse_proof, request_hash, sign_grant
from .transport import Transport

_CLOCK_BEHIND_MS = 30_000
_CLOCK_AHEAD_MS = 5_000


@dataclass(frozen=True)
class Decision:
    """The service's decision, checked. Act only if ``allowed`` is true."""

    allowed: bool
    reason: str | None
    """Why the Action is not allowed; null if it is allowed."""
    receipt: dict[str, Any]


class RelyingParty:
    """Asks the service for decisions.

    Example:
        >>> shop = RelyingParty(base_url, api_key, did_document, relying_party="did:web:shop.example")  # doctest: +SKIP
        >>> shop.verify(grant, proof, action, method="POST", url="https://shop.example/checkout").allowed  # doctest: +SKIP
    """

    @checked_but("did_document")
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
            did_document: The service's DID document, pinned. Receipts of this service are trusted.
            relying_party: Your did:web DID.
        """
        if not is_did_web(relying_party):
            raise InvalidArgument("relying_party must be your did:web DID")
        self._transport = Transport(base_url, api_key, timeout_seconds)
        self._keys = open_keys(did_document, service_did)
        self._relying_party = relying_party

    @checked
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
        """Asks for a decision on the received HTTP request: its method, and its absolute URL as the Agent addressed it.

        Never act on an exception.

        Raises:
            ServiceError: No decision was made, or none is known. The Proof may be spent.
            Refused: The answer is not a Receipt of the service about this request. The Proof may be spent. If the decision
                was an ALLOW, report ``cancelled`` about the decision ``receipt_id``. Also raised before anything is asked, if
                the Action is malformed, or if the Proof names another HTTP request (``request-mismatch``), for which it
                would be spent in vain.
            InvalidArgument: Nothing was asked, and no Proof is spent.
        """
        asked = check_action(dict(action))
        if not is_method(method) or normalize_htu(url) is None:
            raise InvalidArgument("method must be an HTTP method in upper case, url the absolute http(s) URL of the request")
        if not grant or not proof:
            raise InvalidArgument("grant and proof must be Svc-Grant and Svc-Proof as received")
        _refuse_other_request(proof, method, url)
        hashes = {"grant_hash": sha256(grant), "proof_hash": sha256(proof)}
        began_ms = read_clock(now) * 1000
        body = {"grant": grant, "proof": proof, "action": asked}
        answer = self._transport.post("/verify", body, {"Idempotency-Key": secrets.token_urlsafe(24)})
        genuine: dict[str, Any] | None = None
        try:
            signed = verify_signed(answer, self._keys)
            if signed.untimely is not None:
                raise Refused("key-not-in-force", signed.untimely)
            genuine = signed.verified.receipt
            self._check_binding(signed.verified, hashes, request_hash(asked, method, url))
            at = parse_instant(genuine["evaluated_at"]) or 0
            if not began_ms - _CLOCK_BEHIND_MS <= at <= read_clock(now) * 1000 + _CLOCK_AHEAD_MS:
                raise Refused("old-answer", "the Receipt was not evaluated during this call, by the clock here")
        except Refused as refused:
            receipt_id = answer.get("receipt_id")
            refused.receipt_id, refused.receipt = receipt_id if is_receipt_id(receipt_id) else None, genuine
            raise
        return Decision(signed.verified.decision == "ALLOW", genuine["reason"], genuine)

    def _check_binding(self, verified: VerifiedReceipt, hashes: dict[str, str], asked: str | None) -> None:
        receipt = verified.receipt
        for code, right in (
            ("grant-hash", receipt["grant_hash"] == hashes["grant_hash"]),
            ("proof-hash", receipt["proof_hash"] == hashes["proof_hash"]),
            ("relying-party", receipt["relying_party"] == self._relying_party),
            # For a DENY it does not matter for which request the Agent signed.
            ("request-hash", verified.decision == "DENY" or (is_sha256(asked) and receipt["request_hash"] == asked)),
        ):
            if not right:
                raise Refused(code, "the Receipt is about something else than what was asked")


def _refuse_other_request(proof: str, method: str, url: str) -> None:
    """Reads which request a Proof names, before it is spent. Nothing relies on this: it is verified and compared anyway."""
    try:
        parsed = parse_proof(proof)
    except Refused:
        return
    if (parsed.method, parsed.url) != (method, normalize_htu(url)):
        raise Refused("request-mismatch", "the Proof was made for another HTTP request than the one received; nothing was asked")


class Principal:
    """Issues and revokes Grants. The signing key is never sent."""

    @checked
    def __init__(self, base_url: str, api_key: str, signer: Signer, *, timeout_seconds: float = 5.0) -> None:
        self._transport = Transport(base_url, api_key, timeout_seconds)
        self._signer = signer

    @checked
    def issue(
        self,
        agent: str,
        capabilities: list[dict[str, Any]],
        *,
        audience: list[str] | LeftOut = LEFT_OUT,
        valid_from: int | None = None,
        lifetime_seconds: int = 30 * 86_400,
    ) -> str:
        """Reserves an id and a status entry for the Agent's did:key, and signs the Grant. See ``sign_grant``."""
        allocation = self._transport.post("/grants", {"agent": agent})
        are_texts = all(isinstance(allocation.get(name), str) for name in ("id", "issuer", "agent"))
        if not are_texts or not isinstance(allocation.get("credentialStatus"), dict):
            raise ServiceError("the answer is no allocation of a Grant")
        if allocation["agent"] != agent:
            raise ServiceError("the service allocated the Grant to another Agent")
        return sign_grant(
            self._signer,
            allocation,
            capabilities=capabilities,
            audience=audience,
            valid_from=valid_from,
            lifetime_seconds=lifetime_seconds,
        )

    @checked
    def revoke(self, grant_id: str, *, patience_seconds: float = 15.0) -> str:
        """Returns ``revoked_at`` once the revocation is in force everywhere. Repeated while it is only recorded (503).

        Raises:
            ServiceError: The Grant may still be in force: call again.
        """
        if not is_grant_id(grant_id):
            raise InvalidArgument("grant_id must be urn:svc:grant: and 26 characters, not the Grant")
        answer = self._transport.post("/revoke", {"grant_id": grant_id}, timeout_seconds=patience_seconds)
        if answer.get("grant_id") != grant_id or answer.get("revoked") is not True:
            raise ServiceError("the service answered about another Grant")
        if parse_time(answer.get("revoked_at")) is None:
            raise ServiceError("the answer does not say when the Grant was revoked")
        return str(answer["revoked_at"])
