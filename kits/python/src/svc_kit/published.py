"""Published tables of checks and trust configurations, by hash (protocol §7, §8).

Entries are added and never changed, because a Receipt is verified by the table under which it was decided.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    id: str
    requires: tuple[str, ...]
    reasons: tuple[str, ...]
    looks_up: bool
    """The check depends on a look-up, which can be unavailable."""


@dataclass(frozen=True)
class Profile:
    hashes: tuple[str, ...]
    """Latest first; all have the same table."""
    checks: tuple[Check, ...]
    """In the order that determines the reason."""
    has_budgets: bool


# `id: requirements: reasons`; `+` marks a look-up, `*` requires every check above.
_TABLE = """
P1::GRANT_MALFORMED UNSUPPORTED_FEATURE
T1+:P1:ISSUER_UNKNOWN
T2:T1:ISSUER_UNVERIFIED
T3:T1:ISSUER_KEY_COMPROMISED
P2+:P1 T1 T3:ISSUER_KEY_NOT_FOUND
P3:P2:GRANT_SIGNATURE_INVALID
P4:P3:GRANT_NOT_YET_VALID
P5:P3:GRANT_EXPIRED
P6+:P3:AUTHORITY_REVOKED
P7:P3:AUDIENCE_MISMATCH
P8::PROOF_MALFORMED
P9:P8:PROOF_SIGNATURE_INVALID
P10:P3 P9:PROOF_AGENT_MISMATCH
P11:P3 P9:PROOF_GRANT_MISMATCH
P12:P9:PROOF_AUDIENCE_MISMATCH
P13:P9:PROOF_EXPIRED
P15::ACTION_MALFORMED
P14:P9 P15:PROOF_ACTION_MISMATCH
P16:P3 P15:ACTION_NOT_AUTHORIZED
P17:P16:UNKNOWN_CONSTRAINT
P18:P17:CURRENCY_NOT_AUTHORIZED
P19:P18:AMOUNT_EXCEEDS_AUTHORITY
P20:P19:RESOURCE_NOT_AUTHORIZED
T5+:*:PROOF_REPLAYED
"""


def _checks(table: str) -> tuple[Check, ...]:
    checks: list[Check] = []
    for row in table.split("\n"):
        if row:
            name, requires, reasons = row.split(":")
            above = tuple(check.id for check in checks)
            required = above if requires == "*" else tuple(requires.split())
            checks.append(Check(name.rstrip("+"), required, tuple(reasons.split()), name.endswith("+")))
    return tuple(checks)


PROFILES = {
    "svc-base-v1": Profile(
        (
            "sha256:0975a6dc1ec391b4d27271459c10281b9436849c527bd0519abab4d8e339aec2",
            "sha256:5f9de5299c5a12702418fdd6410521928d41780ff72c884c97229ac2e8f50950",
        ),
        _checks(_TABLE),
        has_budgets=False,
    ),
    "svc-base-v2": Profile(
        (
            "sha256:752ae3be25a7f0b9531efa9da92b7620f359b25dd88b9371100e5546ed415b96",
            "sha256:6177b922e8dd4dd844ff6a0d3235660ce3a3ed62e59858051a1de5096dc9fd05",
        ),
        _checks(_TABLE.replace("\nP19:", "\nP19+:")),
        has_budgets=True,
    ),
}
REASONS = frozenset(
    {reason for profile in PROFILES.values() for check in profile.checks for reason in check.reasons}
    | {"SERVICE_UNAVAILABLE", "ISSUER_NOT_TRUSTED"}
)

_NAMED = [{check.id for check in profile.checks} for profile in PROFILES.values()]


def _by_number(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: int(name[1:])))


CHECKS_OF_EACH = _by_number(set.intersection(*_NAMED))
"""The checks that every profile has. In this order, so that the first of several that are missing is named."""
CHECKS_OF_SOME = _by_number(set.union(*_NAMED).difference(CHECKS_OF_EACH))


@dataclass(frozen=True)
class TrustConfig:
    hash: str
    did_document_max_age_seconds: int
    status_list_max_age_seconds: int


TRUST_CONFIGS = {
    "svc-trust-config-1": TrustConfig(
        "sha256:0c4a5230f05be003701063986b5d01534d64cdf8423c322f83eb12ba7123c78e", 3600, 30
    ),
}
