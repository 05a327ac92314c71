"""Verifies Receipts offline (protocol §7, §8): form, signature, and that all members agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .arguments import checked_but
from .errors import Refused
from .identifiers import (
    is_count,
    is_currency,
    is_did_web,
    is_grant_id,
    is_method,
    is_receipt_id,
    is_sha256,
    parse_instant,
    parse_seconds,
    parse_time,
    ulid_time,
)
from .jcs import canonicalize
from .jws import sha256, split_jws
from .published import (
    CHECKS_OF_EACH,
    CHECKS_OF_SOME,
    PROFILES,
    REASONS,
    TRUST_CONFIGS,
    Profile,
)
from .service_keys import ServiceKeys
from .strict_json import parse_json
from .tokens import BUDGET_KEYS, find_budget_problem, is_resource_pattern

RECEIPT_TYP = "svc-receipt+jwt"
_MAX_CHARS = 1_048_576
_JWS_MAX_CHARS = 65_536
_JWS = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)

Document = str | bytes | Mapping[str, Any]


@dataclass(frozen=True)
class VerifiedReceipt:
    """A Receipt that the service signed, read from the signed bytes."""

    receipt: dict[str, Any]
    decision: str
    kid: str


@checked_but("receipt", "did_document")
def verify_receipt(
    receipt: Document, did_document: Document | ServiceKeys, *, service_did: str | None = None
) -> VerifiedReceipt:
    """Verifies a Receipt with the service's DID document, or with ``ServiceKeys`` made from it.

    Success means that the service signed exactly this and that it is consistent. It does not mean that the Receipt is about
    your request (compare ``request_hash``), nor that it is an ALLOW.

    Raises:
        Refused: With the code of the first fault. For ``key-not-in-force``, use ``verify_included_receipt``.
    """
    signed = verify_signed(receipt, open_keys(did_document, service_did))
    if signed.untimely is not None:
        raise Refused("key-not-in-force", f"{signed.untimely}: it takes the inclusion proof and the attestation")
    return signed.verified


@dataclass(frozen=True)
class Signed:
    """A valid Receipt, except that its date may be outside its key's time."""

    verified: VerifiedReceipt
    untimely: str | None


def open_keys(document: Document | ServiceKeys, service_did: str | None) -> ServiceKeys:
    if not isinstance(document, ServiceKeys):
        return ServiceKeys(document, service_did)
    if service_did is not None and document.did != service_did:
        raise Refused("wrong-service", f"the DID document is of {document.did}, not of {service_did}")
    return document


def verify_signed(receipt: Document, keys: ServiceKeys) -> Signed:
    shown = _read_shown(receipt)
    if "receipt" not in shown:
        raise Refused("missing-member", "/receipt is missing")
    jws = shown.pop("receipt")
    if not isinstance(jws, str):
        raise Refused("malformed-member", "/receipt must be a compact JWS")
    parts = split_jws(jws, _JWS_MAX_CHARS)
    kid = _kid_of(parts.header_text)
    body = _canonical_object(parts.payload_text)
    if _canonical_or_none(shown) != parts.payload_text:
        raise Refused("payload-mismatch", "the members beside the JWS are not those that were signed")
    check_body(body)
    untimely = keys.check("receipt", kid, parts, parse_instant(body["evaluated_at"]))
    return Signed(VerifiedReceipt({**body, "receipt": jws}, body["decision"], kid), untimely)


def _read_shown(receipt: Document) -> dict[str, Any]:
    value: Any = receipt
    if isinstance(receipt, (str, bytes)):
        if len(receipt) > _MAX_CHARS:
            raise Refused("malformed-receipt", f"longer than {_MAX_CHARS} characters")
        try:
            value = parse_json(receipt)
        except Refused as problem:
            is_jws = isinstance(receipt, str) and _JWS.fullmatch(receipt)
            told = "this is a JWS: pass the whole answer" if is_jws else str(problem)
            raise Refused("malformed-receipt", told) from None
    if not isinstance(value, Mapping):
        raise Refused("malformed-receipt", "the Receipt must be a JSON object")
    return dict(value)


def _kid_of(header_text: str) -> str:
    try:
        header = parse_json(header_text)
    except Refused:
        header = None
    kid = header.get("kid") if isinstance(header, dict) else None
    if not isinstance(kid, str) or header_text != canonicalize({"alg": "EdDSA", "kid": kid, "typ": RECEIPT_TYP}):
        raise Refused("wrong-header", f"the header must be exactly alg EdDSA, kid and typ {RECEIPT_TYP}")
    return kid


def _canonical_object(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except Refused:
        value = None
    if not isinstance(value, dict) or canonicalize(value) != text:
        raise Refused("payload-not-canonical", "the payload must be the RFC 8785 form of a JSON object")
    return value


def _canonical_or_none(value: dict[str, Any]) -> str | None:
    try:
        return canonicalize(value)
    except ValueError:
        return None


# ---- The form of each member

_Check = Callable[[Any, str], None]
_DID_KEY = re.compile(r"did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}")
_URL = re.compile(r"https?://[\x21-\x7e]+")
_INDEX = re.compile(r"0|[1-9][0-9]{0,15}")


def _scalar(right: str, is_right: Callable[[Any], bool]) -> _Check:
    def check(value: Any, path: str) -> None:
        if not is_right(value):
            raise Refused("malformed-member", f"{path or 'the Receipt'} must be {right}")

    return check


def _one_of(*options: str) -> _Check:
    return _scalar(" or ".join(options), lambda value: isinstance(value, str) and value in options)


def closed(required: Mapping[str, _Check], optional: Mapping[str, _Check] | None = None) -> _Check:
    """An object with these members and no others."""
    known = {**required, **(optional or {})}

    def check(value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise Refused("malformed-member", f"{path or 'the object'} must be an object")
        for name in value:
            if name not in known:
                raise Refused("unknown-member", f"{path}/{name} is unknown")
        for name in required:
            if name not in value:
                raise Refused("missing-member", f"{path}/{name} is missing")
        for name, member in value.items():
            known[name](member, f"{path}/{name}")

    return check


_SHA256 = _scalar('"sha256:" and 64 lower-case hex characters', is_sha256)
_DID_WEB = _scalar("a did:web DID", is_did_web)
_INSTANT = _scalar("a time as YYYY-MM-DDThh:mm:ss.sssZ", lambda value: parse_instant(value) is not None)
_TEXT = _scalar("a non-empty string", lambda value: isinstance(value, str) and value != "")
_COUNT = _scalar("an integer, 0 to 2^53-1", is_count)
_RESULT = _one_of("PASS", "FAIL")
_OUTCOME = _scalar('true, false or "skipped"', lambda value: value is True or value is False or value == "skipped")


def _outcomes(letter: str) -> _Check:
    """``_check_named`` checks which of the checks that only some profiles have must be there."""
    each, some = (
        dict.fromkeys((name for name in names if name.startswith(letter)), _OUTCOME)
        for names in (CHECKS_OF_EACH, CHECKS_OF_SOME)
    )
    return closed(each, some)


_CONSTRAINTS = {
    "commerce:purchase": closed(
        {"currency": _scalar("three upper-case letters (ISO 4217)", is_currency), "maxAmount": _COUNT},
        dict.fromkeys(BUDGET_KEYS["commerce:purchase"], _scalar("", lambda _: True)),
    ),
    "api:call": closed(
        {
            "methods": _scalar(
                "1 to 16 distinct upper-case HTTP methods",
                lambda value: isinstance(value, list)
                and 1 <= len(value) <= 16
                and all(map(is_method, value))
                and len(set(value)) == len(value),
            )
        },
        dict.fromkeys(BUDGET_KEYS["api:call"], _COUNT),
    ),
}
_CAPABILITY = closed(
    {"action": _one_of("commerce:purchase", "api:call"), "constraints": _scalar("", lambda _: True)},
    {
        "resources": _scalar(
            "1 to 64 resource patterns",
            lambda value: isinstance(value, list)
            and 1 <= len(value) <= 64
            and all(is_resource_pattern(item) and "\0" not in item for item in value),
        )
    },
)


def _authority(value: Any, path: str) -> None:
    if value is None:
        return
    _CAPABILITY(value, path)
    _CONSTRAINTS[value["action"]](value["constraints"], f"{path}/constraints")
    problem = find_budget_problem(value["action"], value["constraints"])
    if problem is not None:
        raise Refused("malformed-member", f"{path}/constraints: {problem}")


_BODY = closed(
    {
        "decision": _one_of("ALLOW", "DENY"),
        "evaluated_at": _INSTANT,
        "evidence": closed(
            {"trust_config_hash": _SHA256, "trust_config_version": _TEXT},
            {
                "consumption": closed({"key": _SHA256, "snapshot_hash": _SHA256, "version": _COUNT}),
                "issuer_resolution": closed({"did": _DID_WEB, "did_document_hash": _SHA256, "resolved_at": _INSTANT}),
                "status": closed(
                    {
                        "checked_at": _INSTANT,
                        "credential_hash": _SHA256,
                        "credential_url": _scalar(
                            "an http or https URL",
                            lambda value: isinstance(value, str) and len(value) <= 2048 and bool(_URL.fullmatch(value)),
                        ),
                        "status_list_index": _scalar(
                            "a decimal integer", lambda value: isinstance(value, str) and bool(_INDEX.fullmatch(value))
                        ),
                    },
                    {"valid_from": _scalar("an RFC 3339 time in UTC", lambda value: parse_time(value) is not None)},
                ),
            },
        ),
        "grant_hash": _SHA256,
        "proof_hash": _SHA256,
        "protocol": closed(
            {
                "checks": _outcomes("P"),
                "profile": _TEXT,
                "profile_hash": _SHA256,
                "result": _RESULT,
            }
        ),
        "reason": _scalar("a reason code or null", lambda value: value is None or (isinstance(value, str) and value in REASONS)),
        "receipt_id": _scalar('"drc_" and a ULID', is_receipt_id),
        "receipt_version": _one_of("svc-receipt-v1"),
        "relying_party": _DID_WEB,
        "trust": closed(
            {"checks": _outcomes("T"), "policy_version": _one_of("svc-trust-v1"), "result": _RESULT}
        ),
    },
    {
        "agent": _scalar("an Ed25519 did:key DID", lambda value: isinstance(value, str) and bool(_DID_KEY.fullmatch(value))),
        "authority": _authority,
        "expires_at": _scalar("a time as YYYY-MM-DDThh:mm:ssZ", lambda value: parse_seconds(value) is not None),
        "grant_id": _scalar('"urn:svc:grant:" and a ULID', is_grant_id),
        "principal": closed({"id": _DID_WEB, "verification": _one_of("domain", "unverified")}),
        "request_hash": _SHA256,
    },
)


# ---- What members mean together


def check_body(body: dict[str, Any]) -> None:
    """Checks the form and the consistency of a Receipt's body; ``Refused`` with the first fault."""
    _BODY(body, "")
    outcomes: dict[str, Any] = {**body["protocol"]["checks"], **body["trust"]["checks"]}
    if ulid_time(body["receipt_id"]) != parse_instant(body["evaluated_at"]):
        raise Refused("wrong-time", "evaluated_at must be the time in receipt_id")
    profile = _check_published(body)
    _check_named(body, outcomes, profile)
    _check_outcomes(body, outcomes, profile)
    _check_presence(body, outcomes)
    _check_authority(body, outcomes, profile)
    _check_times(body, outcomes)


def _check_published(body: dict[str, Any]) -> Profile:
    protocol, evidence = body["protocol"], body["evidence"]
    known = PROFILES.get(protocol["profile"])
    if known is None:
        raise Refused("unknown-profile", f"the profile {protocol['profile']!r} is not known to this version; a later one may know it")
    if protocol["profile_hash"] not in known.hashes:
        raise Refused("wrong-profile-hash", f"the hash of {protocol['profile']} is not known to this version; a later one may know it")
    config = TRUST_CONFIGS.get(evidence["trust_config_version"])
    if config is None:
        raise Refused("unknown-trust-config", f"the trust configuration {evidence['trust_config_version']!r} is not known to this version; a later one may know it")
    if evidence["trust_config_hash"] != config.hash:
        raise Refused("wrong-trust-config-hash", f"the hash of {evidence['trust_config_version']} is not known to this version; a later one may know it")
    return known


def _check_named(body: dict[str, Any], outcomes: dict[str, Any], profile: Profile) -> None:
    named = [check.id for check in profile.checks]
    for name in named:
        if name not in outcomes:
            raise Refused("missing-member", f"the check {name} is missing: {body['protocol']['profile']} has it")
    for name in outcomes:
        if name not in named:
            raise Refused("unknown-member", f"{body['protocol']['profile']} has no check {name}")


def _check_outcomes(body: dict[str, Any], outcomes: dict[str, Any], profile: Profile) -> None:
    reasons: tuple[str, ...] | None = None
    for check in profile.checks:
        outcome, can_run = outcomes[check.id], all(outcomes[required] is True for required in check.requires)
        if not can_run and outcome != "skipped":
            raise Refused("wrong-outcome", f'{check.id} must be "skipped": what it requires did not pass')
        is_unavailable = can_run and outcome == "skipped"
        if is_unavailable and not check.looks_up:
            raise Refused("wrong-outcome", f"{check.id} must be true or false: it needs nothing that can be unavailable")
        if reasons is None and (outcome is False or is_unavailable):
            reasons = ("SERVICE_UNAVAILABLE",) if is_unavailable else check.reasons
    decision = "ALLOW" if all(outcome is True for outcome in outcomes.values()) else "DENY"
    if body["decision"] != decision:
        raise Refused("wrong-decision", f"decision must be {decision} by the checks")
    if (body["reason"] is not None) if reasons is None else (body["reason"] not in reasons):
        raise Refused("wrong-reason", f"reason must be {'null' if reasons is None else ' or '.join(reasons)}")
    for group in ("protocol", "trust"):
        result = "PASS" if all(outcome is True for outcome in body[group]["checks"].values()) else "FAIL"
        if body[group]["result"] != result:
            raise Refused("wrong-result", f"{group}.result must be {result} by its checks")


_PRESENT = {
    **dict.fromkeys(("principal", "grant_id", "expires_at", "authority"), ("P3",)),
    "agent": ("P9",),
    "request_hash": ("P9", "P15"),
}


def _check_presence(body: dict[str, Any], outcomes: dict[str, Any]) -> None:
    for name, checks in _PRESENT.items():
        if (name in body) != all(outcomes.get(check) is True for check in checks):
            raise Refused("wrong-presence", f"/{name} must be there exactly where {' and '.join(checks)} passed")
    can_resolve = all(outcomes.get(check) is True for check in ("P1", "T1", "T3"))
    can_consult = outcomes.get("P3") is True and outcomes.get("P6") != "skipped"
    for name, check, can_be in (("issuer_resolution", "P2", can_resolve), ("status", "P6", can_consult)):
        if not can_be if name in body["evidence"] else outcomes.get(check) is True:
            raise Refused("wrong-presence", f"/evidence/{name} contradicts {check}")


def _check_authority(body: dict[str, Any], outcomes: dict[str, Any], profile: Profile) -> None:
    authority, evidence = body.get("authority"), body["evidence"]
    if "authority" in body and (authority is None) != (body["decision"] == "DENY"):
        raise Refused("contradiction", "authority must be null on DENY, and a Capability on ALLOW")
    has_budget = authority is not None and any(
        name in authority["constraints"] for name in BUDGET_KEYS[authority["action"]]
    )
    if has_budget and not profile.has_budgets:
        raise Refused("contradiction", f"{body['protocol']['profile']} knows no budgets")
    if ("consumption" in evidence) != has_budget:
        raise Refused("wrong-presence", "/evidence/consumption must be there exactly where authority has a budget")
    if has_budget and evidence["consumption"]["key"] != sha256(canonicalize(authority)):
        raise Refused("contradiction", "/evidence/consumption/key must be the hash of authority")
    principal = body.get("principal")
    if principal is not None:
        if principal["verification"] != ("domain" if outcomes.get("T2") is True else "unverified"):
            raise Refused("contradiction", "principal.verification contradicts T2")
        if evidence.get("issuer_resolution", {}).get("did", principal["id"]) != principal["id"]:
            raise Refused("contradiction", "the DID document must be that of the Principal")


def _check_times(body: dict[str, Any], outcomes: dict[str, Any]) -> None:
    evidence, at = body["evidence"], body["evaluated_at"]
    at_ms, expires_ms = parse_instant(at), parse_seconds(body.get("expires_at"))
    assert at_ms is not None
    if expires_ms is not None and (outcomes.get("P5") is True) != (at_ms // 1000 * 1000 < expires_ms):
        raise Refused("contradiction", "P5 contradicts expires_at")
    config = TRUST_CONFIGS[evidence["trust_config_version"]]
    for name, member, most_seconds in (
        ("issuer_resolution", "resolved_at", config.did_document_max_age_seconds),
        ("status", "checked_at", config.status_list_max_age_seconds),
    ):
        seen_ms = parse_instant(evidence.get(name, {}).get(member))
        if seen_ms is not None and seen_ms > at_ms:
            raise Refused("contradiction", f"/evidence/{name}/{member} must not be after evaluated_at")
        if seen_ms is not None and at_ms - seen_ms > most_seconds * 1000:
            raise Refused("stale-evidence", f"/evidence/{name}/{member} is more than {most_seconds} s old")
