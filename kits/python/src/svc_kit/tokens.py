"""Reads and signs Actions, Proofs and Grants (protocol §2, §3, §5).

Reading checks the form only. The service decides whether a Proof or a Grant is valid.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import ed25519
from .arguments import LEFT_OUT, LeftOut, checked, read_clock
from .errors import InvalidArgument, Refused
from .htu import normalize_htu
from .identifiers import (
    decode_did_key,
    format_seconds,
    is_count,
    is_currency,
    is_did_web,
    is_grant_id,
    is_jti,
    is_method,
    parse_seconds,
    ulid_time,
    utf16_length,
)
from .jcs import canonicalize
from .jws import Agent, Jws, Signer, parse_jws, sha256, sign_jws
from .strict_json import Json, has_surrogate

PROOF_TYP = "svc-proof+jwt"
PROOF_MAX_CHARS = 8192
GRANT_TYP = "vc+jwt"
GRANT_MAX_CHARS = 16_384
GRANT_CONTEXT = ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/undefined-terms/v2"]
GRANT_TYPE = ["VerifiableCredential", "SvcGrant"]
_NINETY_DAYS_MS = 90 * 86_400_000
_DEFAULT_LIFETIME_SECONDS = 30 * 86_400
_URI = re.compile(r"https?://[\x21-\x7e]+")
_INDEX = re.compile(r"0|[1-9][0-9]*")


# ---- Actions


def check_action(action: Any) -> dict[str, Any]:
    """A copy of a well-formed Action (protocol §5); ``Refused('ACTION_MALFORMED')`` otherwise."""

    def refuse(problem: str) -> Refused:
        return Refused("ACTION_MALFORMED", f"action{problem}")

    if not isinstance(action, dict):
        raise refuse(" must be a JSON object")
    kind, resource = action.get("type"), action.get("resource")
    if kind not in ("commerce:purchase", "api:call") or not isinstance(kind, str):
        raise refuse('.type must be "commerce:purchase" or "api:call"')
    members = {"type", "resource", "amount", "currency"} if kind == "commerce:purchase" else {"type", "method", "resource"}
    if set(action) != members:
        raise refuse(f" of type {kind} has exactly {', '.join(sorted(members))}")
    if not isinstance(resource, str) or has_surrogate(resource) or "\0" in resource:
        raise refuse(".resource must be a string without lone surrogates and U+0000")
    if not 1 <= utf16_length(resource) <= 2048:
        raise refuse(".resource must have 1 to 2,048 characters")
    if kind == "commerce:purchase":
        if not is_count(action["amount"]):
            raise refuse(".amount must be an integer of minor units, 0 to 2^53-1")
        if not is_currency(action["currency"]):
            raise refuse(".currency must be three upper-case letters (ISO 4217)")
    else:
        if not is_method(action["method"]):
            raise refuse(".method must be 1 to 32 upper-case letters")
        if not resource.startswith(("http://", "https://")) or normalize_htu(resource) is None:
            raise refuse(".resource must be an absolute http or https URL")
    return dict(action)


@checked
def request_hash(action: Mapping[str, Any], method: str, url: str) -> str | None:
    """The ``request_hash`` of a Receipt about this Action and HTTP request; None for a URL that cannot be in a Proof."""
    htu = normalize_htu(url)
    return None if htu is None else sha256(canonicalize({"action": dict(action), "htm": method, "htu": htu}))


# ---- Proofs


@dataclass(frozen=True)
class Proof:
    """A well-formed Proof. ``is_signed`` says whether the Agent signed it."""

    agent: str
    audience: str
    grant_id: str
    method: str
    url: str
    """The URL in normal form."""
    action: dict[str, Any]
    iat: int
    jti: str
    jws: Jws

    @property
    def is_signed(self) -> bool:
        """Whether the signature is strict and by the Agent that the Proof names."""
        return ed25519.verify(decode_did_key(self.agent) or b"", self.jws.signing_input, self.jws.signature)


@checked
def parse_proof(text: str) -> Proof:
    """Reads a Proof; ``Refused('PROOF_MALFORMED')`` for every fault of form."""
    try:
        jws = parse_jws(text, PROOF_MAX_CHARS)
        return _read_proof(jws)
    except Refused as problem:
        raise Refused("PROOF_MALFORMED", str(problem)) from None


def _read_proof(jws: Jws) -> Proof:
    findings = _Findings()
    kid = _header_kid(jws, PROOF_TYP, None, findings)
    findings.raise_worst()
    claims = jws.payload
    if set(claims) != {"iss", "aud", "grant_id", "htm", "htu", "action", "iat", "jti"}:
        raise Refused("PROOF_MALFORMED", "another set of members than that of a Proof")
    agent, url, iat = claims["iss"], claims["htu"], claims["iat"]
    normal = normalize_htu(url) if isinstance(url, str) else None
    if not isinstance(agent, str) or decode_did_key(agent) is None:
        raise Refused("PROOF_MALFORMED", "iss must be an Ed25519 did:key")
    if kid != f"{agent}#{agent[8:]}":
        raise Refused("PROOF_MALFORMED", 'kid must be the did:key of iss, "#" and its multibase value')
    for name, right, is_right in (
        ("aud", "one did:web DID", is_did_web),
        ("grant_id", "urn:svc:grant: and a ULID", is_grant_id),
        ("htm", "1 to 32 upper-case letters", is_method),
        ("jti", "22 to 64 base64url characters", is_jti),
    ):
        if not is_right(claims[name]):
            raise Refused("PROOF_MALFORMED", f"{name} must be {right}")
    if normal is None:
        raise Refused("PROOF_MALFORMED", "htu must be an absolute http or https URL")
    if not isinstance(iat, int) or isinstance(iat, bool):
        raise Refused("PROOF_MALFORMED", "iat must be an integer of seconds")
    audience, grant_id, method, jti = (str(claims[name]) for name in ("aud", "grant_id", "htm", "jti"))
    return Proof(agent, audience, grant_id, method, normal, check_action(claims["action"]), iat, jti, jws)


@checked
def sign_proof(
    agent: Agent,
    *,
    grant_id: str,
    audience: str,
    method: str,
    url: str,
    action: Mapping[str, Any],
    now: Callable[[], float] = time.time,
    jti: str | None = None,
) -> str:
    """Signs a Proof for the header ``Svc-Proof`` of one request; it is valid for one use.

    Args:
        audience: The did:web DID of the relying party.
        method, url: Of the HTTP request that will carry the Proof; the URL is absolute.
        action: What the request does, in the relying party's terms; amounts in minor units.
        now: Seconds since the epoch.
        jti: 22–64 base64url characters, never used before; random unless given.

    Raises:
        Refused: The service would refuse the form, or the Proof does not match its own request.
    """
    checked = check_action(dict(action))
    htu = normalize_htu(url)
    if checked["type"] == "api:call" and (checked["method"] != method or normalize_htu(checked["resource"]) != htu):
        raise Refused("PROOF_ACTION_MISMATCH", "an api:call is the request itself: method and URL must agree")
    claims: dict[str, Any] = {
        **{"iss": agent.did, "aud": audience, "grant_id": grant_id, "htm": method, "htu": url if htu is None else htu},
        **{"action": checked, "iat": int(read_clock(now)), "jti": secrets.token_urlsafe(32) if jti is None else jti},
    }
    proof = sign_jws(agent, PROOF_TYP, claims)
    parse_proof(proof)
    return proof


# ---- Grants


@dataclass(frozen=True)
class Grant:
    """A well-formed Grant. Only the issuer's DID document tells whether its signature is valid."""

    kid: str
    id: str
    issuer: str
    agent: str
    valid_from: str
    valid_until: str
    audience: tuple[str, ...] | None
    """None: any registered relying party."""
    capabilities: list[dict[str, Any]]
    budget_problem: str | None
    """The fault in the form of the budgets.

    A profile that supports budgets denies the Grant as malformed; another profile denies it for unknown constraints.
    """
    jws: Jws

    @checked
    def is_signed_by(self, key: bytes) -> bool:
        """Whether the signature is strict and by this raw Ed25519 key."""
        return ed25519.verify(key, self.jws.signing_input, self.jws.signature)


class _Findings:
    """A malformed form takes precedence over unknown features (protocol §2)."""

    def __init__(self) -> None:
        self._malformed: str | None = None
        self._unsupported: str | None = None
        self.budget: str | None = None

    def malformed(self, problem: str) -> None:
        self._malformed = self._malformed or problem

    def unsupported(self, problem: str) -> None:
        self._unsupported = self._unsupported or problem

    def unknown(self, value: Mapping[str, Any], known: Iterable[str], at: str) -> None:
        for name in set(value).difference(known):
            self.unsupported(f'{at} has an unknown member "{name}"')

    def raise_worst(self) -> None:
        if self._malformed is not None:
            raise Refused("GRANT_MALFORMED", self._malformed)
        if self._unsupported is not None:
            raise Refused("UNSUPPORTED_FEATURE", self._unsupported)


@checked
def parse_grant(text: str) -> Grant:
    """Reads a Grant; ``Refused`` with ``GRANT_MALFORMED``, or ``UNSUPPORTED_FEATURE`` if only features are unknown."""
    try:
        jws = parse_jws(text, GRANT_MAX_CHARS)
    except Refused as problem:
        raise Refused("GRANT_MALFORMED", str(problem)) from None
    findings = _Findings()
    kid = _header_kid(jws, GRANT_TYP, "vc", findings)
    claims = jws.payload
    findings.unknown(
        claims,
        ("@context", "id", "type", "issuer", "validFrom", "validUntil", "credentialStatus", "credentialSubject")
        + ("iss", "sub", "jti", "iat"),
        "the Grant",
    )
    for name, right in (("@context", GRANT_CONTEXT), ("type", GRANT_TYPE)):
        if claims.get(name) != right:
            findings.malformed(f"{name} is not that of a Grant")
    for name, is_right in (("id", is_grant_id), ("issuer", is_did_web)):
        if not is_right(claims.get(name)):
            findings.malformed(f"{name} has not its form")
    _check_validity(claims, findings)
    _check_status(claims.get("credentialStatus"), findings)
    subject = claims.get("credentialSubject")
    agent = _check_subject(subject, findings)
    _check_jwt_claims(claims, agent, findings)
    findings.raise_worst()
    assert isinstance(subject, dict)
    audience: Any = subject.get("audience")
    capabilities: Any = subject["capabilities"]
    identifier, issuer, begins, ends = (str(claims[name]) for name in ("id", "issuer", "validFrom", "validUntil"))
    dids = None if audience is None else tuple(audience)
    return Grant(kid or "", identifier, issuer, agent or "", begins, ends, dids, capabilities, findings.budget, jws)


def _header_kid(jws: Jws, typ: str, cty: str | None, findings: _Findings) -> str | None:
    """The header must have exactly alg, typ and kid, and for a Grant also cty: another member would change the meaning."""
    header = {name: value for name, value in jws.header.items() if name != "cty" or cty is None or value != cty}
    findings.unknown(header, ("alg", "typ", "kid"), "the header")
    alg, kid = header.get("alg"), header.get("kid")
    if not isinstance(alg, str):
        findings.malformed("header alg must be a string")
    elif alg not in ("EdDSA", "Ed25519"):
        findings.unsupported(f'header alg "{alg}" is not EdDSA')
    if header.get("typ") != typ:
        findings.malformed(f'header typ must be "{typ}"')
    if isinstance(kid, str) and 1 <= utf16_length(kid) <= 1024:
        return kid
    findings.malformed("header kid must be a string of 1 to 1,024 characters")
    return None


def _check_validity(claims: Mapping[str, Json], findings: _Findings) -> None:
    begin, end = parse_seconds(claims.get("validFrom")), parse_seconds(claims.get("validUntil"))
    if begin is None or end is None:
        findings.malformed("validFrom and validUntil must be YYYY-MM-DDThh:mm:ssZ")
    elif not 0 < end - begin <= _NINETY_DAYS_MS:
        findings.malformed("validUntil must be after validFrom, by at most 90 days")


def _check_status(status: Json, findings: _Findings) -> None:
    if not isinstance(status, dict):
        return findings.malformed("credentialStatus must be an object")
    names = ("id", "type", "statusPurpose", "statusListIndex", "statusListCredential")
    findings.unknown(status, names, "credentialStatus")
    for name, known in (("type", "BitstringStatusListEntry"), ("statusPurpose", "revocation")):
        if not isinstance(status.get(name), str):
            findings.malformed(f"credentialStatus.{name} must be a string")
        elif status[name] != known:
            findings.unsupported(f"credentialStatus.{name} is not known")
    for name in ("id", "statusListCredential"):
        value = status.get(name)
        if not isinstance(value, str) or len(value) > 2048 or _URI.fullmatch(value) is None:
            findings.malformed(f"credentialStatus.{name} must be an http(s) URI")
    index = status.get("statusListIndex")
    if not isinstance(index, str) or len(index) > 16 or _INDEX.fullmatch(index) is None:
        findings.malformed("credentialStatus.statusListIndex must be a decimal string")
    return None


def _check_subject(subject: Json, findings: _Findings) -> str | None:
    """The Agent, if it can be determined."""
    if isinstance(subject, list):
        findings.unsupported("several credential subjects")
        return None
    if not isinstance(subject, dict):
        findings.malformed("credentialSubject must be an object")
        return None
    findings.unknown(subject, ("id", "audience", "capabilities"), "credentialSubject")
    agent, audience, capabilities = subject.get("id"), subject.get("audience"), subject.get("capabilities")
    if decode_did_key(agent) is None:
        findings.malformed("credentialSubject.id must be an Ed25519 did:key")
    if "audience" in subject and not _is_distinct(audience, 64, is_did_web):
        findings.malformed("audience must be 1 to 64 distinct did:web DIDs")
    if not isinstance(capabilities, list) or not 1 <= len(capabilities) <= 16:
        findings.malformed("capabilities must be an array of 1 to 16")
    else:
        for i, capability in enumerate(capabilities):
            _check_capability(capability, f"capabilities[{i}]", findings)
    return agent if isinstance(agent, str) and decode_did_key(agent) is not None else None


def _is_distinct(value: Any, most: int, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= most and all(map(is_right, value)) and len(set(value)) == len(value)


def is_resource_pattern(value: Any) -> bool:
    """1–512 characters with at most 8 runs of asterisks (protocol §6)."""
    return isinstance(value, str) and 1 <= utf16_length(value) <= 512 and len(re.findall(r"\*+", value)) <= 8


def _check_capability(value: Json, at: str, findings: _Findings) -> None:
    if not isinstance(value, dict):
        return findings.malformed(f"{at} must be an object")
    findings.unknown(value, ("action", "constraints", "resources"), at)
    action, constraints, resources = value.get("action"), value.get("constraints"), value.get("resources")
    if not isinstance(constraints, dict):
        findings.malformed(f"{at}.constraints must be an object")
    if "resources" in value and not (
        isinstance(resources, list) and 1 <= len(resources) <= 64 and all(map(is_resource_pattern, resources))
    ):
        findings.malformed(f"{at}.resources must be 1 to 64 patterns of 1 to 512 characters with at most 8 runs of *")
    if not isinstance(action, str) or not action:
        return findings.malformed(f"{at}.action must be a string")
    if action not in ("commerce:purchase", "api:call"):
        return findings.unsupported(f"{at}.action is not of this profile")
    if not isinstance(constraints, dict):
        return None
    if action == "commerce:purchase":
        if not is_count(constraints.get("maxAmount")):
            findings.malformed(f"{at}.constraints.maxAmount must be an integer of minor units, 0 to 2^53-1")
        if not is_currency(constraints.get("currency")):
            findings.malformed(f"{at}.constraints.currency must be three upper-case letters (ISO 4217)")
    elif not _is_distinct(constraints.get("methods"), 16, is_method):
        findings.malformed(f"{at}.constraints.methods must be 1 to 16 distinct upper-case HTTP methods")
    problem = find_budget_problem(action, constraints)
    findings.budget = findings.budget or (None if problem is None else f"{at}.constraints: {problem}")
    return None


BUDGET_KEYS = {"commerce:purchase": ("maxTotal", "maxPerPeriod", "period", "maxUses"), "api:call": ("maxUses",)}
PERIODS = ("hour", "day", "week", "month")


def find_budget_problem(action: str, constraints: Mapping[str, Any]) -> str | None:
    """The fault in the form of the budgets in these constraints (protocol §11), or None."""
    for name in BUDGET_KEYS[action]:
        if name not in constraints:
            continue
        value = constraints[name]
        if name == "period" and value not in PERIODS:
            return f"period must be one of {', '.join(PERIODS)}"
        if name != "period" and not is_count(value):
            return f"{name} must be an integer, 0 to 2^53-1"
    if action == "commerce:purchase" and ("period" in constraints) != ("maxPerPeriod" in constraints):
        return "period and maxPerPeriod must come together"
    return None


def _check_jwt_claims(claims: Mapping[str, Json], agent: str | None, findings: _Findings) -> None:
    """``iss``, ``sub`` and ``jti`` must repeat what the credential says; ``iat`` must be an integer and is not used."""
    for name, expected in (("iss", claims.get("issuer")), ("sub", agent), ("jti", claims.get("id"))):
        value = claims.get(name)
        if name not in claims:
            continue
        if not isinstance(value, str) or (value != expected and not (name == "sub" and agent is None)):
            findings.malformed(f"{name} must be what the credential says")
    if "iat" in claims and (not isinstance(claims["iat"], int) or isinstance(claims["iat"], bool)):
        findings.malformed("iat must be an integer")


@checked
def purchase(max_amount: int, currency: str, resources: list[str] | LeftOut = LEFT_OUT, **budgets: Any) -> dict[str, Any]:
    """A Capability for purchases of at most ``max_amount`` minor units; budgets: ``maxTotal``, ``maxUses`` and so on.

    Without ``resources`` it allows any resource; ``None`` does not mean that.
    """
    constraints = {"maxAmount": max_amount, "currency": currency, **budgets}
    return {"action": "commerce:purchase", "constraints": constraints, **({} if isinstance(resources, LeftOut) else {"resources": resources})}


@checked
def api_call(methods: list[str], resources: list[str], **budgets: Any) -> dict[str, Any]:
    """A Capability for calls with these methods to URLs that match one of these patterns."""
    return {"action": "api:call", "constraints": {"methods": methods, **budgets}, "resources": resources}


_CLOCKS_APART_MS = 300_000
"""Longest time from the allocation of a Grant to its signature, and largest difference between this clock and the
service's.
"""
_NODES_APART_MS = 1_000
"""Largest difference between the clocks of two nodes of the service."""


def _present(grant_id: object) -> int:
    """A present, in seconds, that no node of the service considers to be in the future.

    Each node decides by its own clock when a Grant becomes valid. The present comes from the Grant's id, which contains the
    time of the allocation by one node's clock. If the clock here differs from that by more than five minutes, it is an error:
    one of the clocks is wrong, or the allocation is old.
    """
    now_ms = int(time.time() * 1000)
    allocated_ms = ulid_time(grant_id) if isinstance(grant_id, str) and is_grant_id(grant_id) else now_ms
    ahead_ms = now_ms - allocated_ms
    if abs(ahead_ms) > _CLOCKS_APART_MS:
        seconds = abs(ahead_ms) // 1000
        raise InvalidArgument(
            f"by the clock here the service allocated the Grant {seconds} s ago: sign within five minutes, set the clock if it is ahead, or give "
            "valid_from; nothing was signed"
            if ahead_ms > 0
            else f"the clock here is {seconds} s behind the time at which the service allocated the Grant: set it, or give valid_from; nothing was signed"
        )
    return (allocated_ms - _NODES_APART_MS) // 1000


@checked
def sign_grant(
    signer: Signer,
    allocation: Mapping[str, Any],
    *,
    capabilities: list[dict[str, Any]],
    audience: list[str] | LeftOut = LEFT_OUT,
    valid_from: int | None = None,
    lifetime_seconds: int = _DEFAULT_LIFETIME_SECONDS,
) -> str:
    """Signs the Grant that was reserved by ``POST /grants``.

    Args:
        signer: The Principal's key; its kid is ``<did>#key-<n>``.
        allocation: The answer: ``id``, ``issuer``, ``agent``, ``credentialStatus``.
        audience: The did:web DIDs of the 1 to 64 relying parties at which the Grant is valid. If left out, it is valid at
            any registered one; ``None`` and an empty list do not mean that.
        valid_from: Seconds since the epoch. The default is one second before the service allocated the Grant, by its
            clock.

    Raises:
        InvalidArgument: Without ``valid_from``: more than five minutes have passed since the allocation, or the clock
            here differs from the service's by more than that.
        Refused: The service would refuse the form, or the allocation is for another Principal.
    """
    missing = [name for name in ("id", "issuer", "agent", "credentialStatus") if name not in allocation]
    if missing or not isinstance(allocation["credentialStatus"], Mapping):
        raise InvalidArgument("allocation must be the answer of POST /grants: id, issuer, agent and credentialStatus")
    issuer, agent = signer.kid.partition("#")[0], allocation["agent"]
    if allocation["issuer"] != issuer:
        raise Refused("GRANT_MALFORMED", f"allocated to {allocation['issuer']}, but the signer's key is of {issuer}")
    if not ed25519.is_strict_public_key(decode_did_key(agent) or b""):
        raise Refused("GRANT_MALFORMED", "agent must be the did:key of a usable Ed25519 key")
    begin = _present(allocation["id"]) if valid_from is None else valid_from
    subject = {"id": agent, "capabilities": capabilities, **({} if isinstance(audience, LeftOut) else {"audience": audience})}
    claims = {
        **{"@context": GRANT_CONTEXT, "id": allocation["id"], "type": GRANT_TYPE, "issuer": issuer},
        **{"validFrom": format_seconds(begin), "validUntil": format_seconds(begin + lifetime_seconds)},
        **{"credentialStatus": dict(allocation["credentialStatus"]), "credentialSubject": subject},
    }
    grant = sign_jws(signer, GRANT_TYP, claims)
    problem = parse_grant(grant).budget_problem
    if problem is not None:
        raise Refused("GRANT_MALFORMED", problem)
    return grant
