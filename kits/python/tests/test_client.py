"""Calls that are refused before anything is asked, so that no Proof is spent; and invalid answers."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import Answer, scripted
from test_arguments import ACTION, AGENT, ALLOCATION, CAPABILITIES, GRANT, GRANT_ID, PROOF, SIGNER, URL, VALID_FROM
from test_vectors import load
from test_webhook import SERVICE

from svc_kit import InvalidArgument, Principal, Refused, RelyingParty, ServiceError, parse_grant, purchase, sign_grant
from svc_kit.identifiers import parse_seconds


@pytest.mark.parametrize(
    "given",
    [{"url": "/checkout"}, {"url": "https://u@shop.example/"}, {"method": "post"}, {"grant": ""}, {"proof": ""}, {"proof": "\ud800"}],
    ids=str,
)
def test_what_no_receipt_could_be_about_is_not_asked(given: dict[str, Any]) -> None:
    with scripted() as (url, asked):
        shop = RelyingParty(url, "dk_secret", SERVICE, "did:web:shop.example")
        with pytest.raises(InvalidArgument):
            of: dict[str, Any] = {"grant": GRANT, "proof": PROOF, "action": ACTION, "method": "POST", "url": URL, **given}
            shop.verify(**of)
    assert asked == []


@pytest.mark.parametrize("received", [{"url": f"{URL}/other"}, {"method": "PUT"}], ids=str)
def test_a_proof_for_another_request_is_not_asked_about_so_that_it_is_not_spent(received: dict[str, Any]) -> None:
    with scripted(Answer(200, {})) as (url, asked):
        shop = RelyingParty(url, "dk_secret", SERVICE, "did:web:shop.example")
        of: dict[str, Any] = {"grant": GRANT, "proof": PROOF, "action": ACTION, "method": "POST", "url": URL}
        with pytest.raises(Refused, match="nothing was asked") as refused:
            shop.verify(**{**of, **received})
        assert (refused.value.code, asked) == ("request-mismatch", [])
        # A query is not signed, and the other spelling is the same URL.
        spelled: dict[str, Any] = {"url": URL.replace("https://shop.example", "HTTPS://Shop.example:443") + "?a=1"}
        with pytest.raises(Refused):
            shop.verify(**{**of, **spelled})
        assert len(asked) == 1


ALLOW = load("evaluate/allow-purchase.json")
EVALUATED_AT = 1_795_168_800
DOCUMENT: dict[str, Any] = load("keys.json")["service_did_document"]
OLDER: dict[str, Any] = {**DOCUMENT, "verificationMethod": []}


@pytest.mark.parametrize(
    ("document", "off", "code", "is_genuine"),
    [(DOCUMENT, -6, "old-answer", True), (DOCUMENT, 31, "old-answer", True), (OLDER, 0, "unknown-key", False)],
)
def test_a_receipt_that_is_refused_is_named_so_that_its_budget_can_be_given_back(
    document: dict[str, Any], off: int, code: str, is_genuine: bool
) -> None:
    given, receipt = ALLOW["input"], {**ALLOW["expected"]["body"], "receipt": ALLOW["expected"]["receipt"]}
    with scripted(Answer(200, receipt)) as (url, _):
        shop = RelyingParty(url, "dk_secret", document, "did:web:shop.example")
        with pytest.raises(Refused) as refused:
            shop.verify(given["grant"], given["proof"], given["action"], method="POST", url=URL, now=lambda: EVALUATED_AT + off)
    assert refused.value.code == code
    assert refused.value.receipt_id == receipt["receipt_id"]
    assert refused.value.receipt == (receipt if is_genuine else None)


@pytest.mark.parametrize("more", [{}, {"decision": "ALLOW"}, {"receipt": "a.b.c", "decision": "ALLOW"}], ids=str)
def test_the_answer_of_a_dry_run_is_no_decision(more: dict[str, Any]) -> None:
    with scripted(Answer(200, {"dry_run": "nothing was decided", "would": "allow", "checks": {}, **more})) as (url, asked):
        with pytest.raises(Refused) as refused:
            RelyingParty(url, "dk_secret", SERVICE, "did:web:shop.example").verify(GRANT, PROOF, ACTION, method="POST", url=URL)
    assert (len(asked), refused.value.receipt_id, refused.value.receipt) == (1, None, None)


@pytest.mark.parametrize("body", [{}, {"agent": AGENT.did}, {"id": GRANT_ID, "issuer": "did:web:a.example", "agent": AGENT.did, "credentialStatus": None}])
def test_an_allocation_that_is_none_is_a_service_error(body: dict[str, Any]) -> None:
    with scripted(Answer(201, body)) as (url, _), pytest.raises(ServiceError, match="allocation"):
        Principal(url, "dk_secret", SIGNER).issue(AGENT.did, CAPABILITIES)


@pytest.mark.parametrize("nobody", [None, []])
def test_an_audience_of_nobody_makes_no_grant_for_everybody(nobody: Any) -> None:
    with pytest.raises((InvalidArgument, Refused), match="audience must be"):
        sign_grant(SIGNER, ALLOCATION, capabilities=CAPABILITIES, audience=nobody, valid_from=VALID_FROM)
    with scripted(Answer(201, ALLOCATION)) as (url, _), pytest.raises((InvalidArgument, Refused), match="audience must be"):
        Principal(url, "dk_secret", SIGNER).issue(AGENT.did, CAPABILITIES, audience=nobody, valid_from=VALID_FROM)
    assert parse_grant(sign_grant(SIGNER, ALLOCATION, capabilities=CAPABILITIES, valid_from=VALID_FROM)).audience is None
    named = sign_grant(SIGNER, ALLOCATION, capabilities=CAPABILITIES, audience=["did:web:shop.example"], valid_from=VALID_FROM)
    assert parse_grant(named).audience == ("did:web:shop.example",)


@pytest.mark.parametrize("without", [{"resources": None}, {"resources": []}, {"maxTotal": None}, {"maxUses": None}, {"period": None}], ids=str)
def test_a_limit_of_nothing_makes_no_capability_without_one(without: dict[str, Any]) -> None:
    with pytest.raises((InvalidArgument, Refused)):
        sign_grant(SIGNER, ALLOCATION, capabilities=[purchase(50_000, "USD", **without)], valid_from=VALID_FROM)


@pytest.mark.parametrize("lifetime", [None, 0, -1])
def test_a_lifetime_of_nothing_is_not_that_of_thirty_days(lifetime: Any) -> None:
    with pytest.raises((InvalidArgument, Refused)):
        sign_grant(SIGNER, ALLOCATION, capabilities=CAPABILITIES, lifetime_seconds=lifetime, valid_from=VALID_FROM)


@pytest.mark.parametrize("at", [{}, {"revoked_at": None}, {"revoked_at": "soon"}], ids=str)
def test_a_revocation_that_says_no_time_is_a_service_error(at: dict[str, Any]) -> None:
    with scripted(Answer(200, {"grant_id": GRANT_ID, "revoked": True, **at})) as (url, _), pytest.raises(ServiceError):
        Principal(url, "dk_secret", SIGNER).revoke(GRANT_ID)


def ulid_of(at_ms: int) -> str:
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    return "".join(digits[at_ms >> shift & 31] for shift in range(45, -1, -5)) + "0" * 16


@pytest.mark.parametrize("ahead_ms", [2_000, 0, 300_000, -40_000, -300_000])
def test_a_grant_begins_a_second_before_the_service_allocated_it(ahead_ms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_795_000_000
    monkeypatch.setattr("time.time", lambda: float(now))
    allocation: dict[str, Any] = {**ALLOCATION, "id": f"urn:svc:grant:{ulid_of(now * 1000 - ahead_ms)}"}
    grant = parse_grant(sign_grant(SIGNER, allocation, capabilities=CAPABILITIES))
    assert parse_seconds(grant.valid_from) == now * 1000 - ahead_ms - 1_000


@pytest.mark.parametrize(("ahead_ms", "says"), [(360_000, "by the clock here the service allocated the Grant 360 s ago"), (-360_000, "the clock here is 360 s behind")])
def test_a_grant_is_not_signed_by_a_clock_that_is_wrong_unless_it_is_said_when_it_begins(
    ahead_ms: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_795_000_000
    monkeypatch.setattr("time.time", lambda: float(now))
    allocation: dict[str, Any] = {**ALLOCATION, "id": f"urn:svc:grant:{ulid_of(now * 1000 - ahead_ms)}"}
    with pytest.raises(InvalidArgument, match=says):
        sign_grant(SIGNER, allocation, capabilities=CAPABILITIES)
    grant = parse_grant(sign_grant(SIGNER, allocation, capabilities=CAPABILITIES, valid_from=now))
    assert parse_seconds(grant.valid_from) == now * 1000
