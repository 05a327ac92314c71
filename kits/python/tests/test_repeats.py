"""Which calls are repeated, and what the error says if the outcome of a call is unknown."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from scripted import CUT_SHORT, LOST, Answer, scripted

from svc_kit import ServiceError
from svc_kit.transport import Transport, _Failure

BUSY = Answer(503, {"error": "SERVICE_UNAVAILABLE", "message": "later"}, {"Svc-Request-Id": "req_1"})
OF_GATEWAY = Answer(524, {"error": "A timeout occurred"})
OF_GATEWAY_WITH_A_CODE = Answer(500, {"error": "GATEWAY_TIMEOUT"})
FAULT = Answer(500, {"error": "INTERNAL", "message": "of ours"})
DONE = Answer(200, {"done": True})


@pytest.mark.parametrize("first", [BUSY, Answer(429), Answer(502), Answer(504), OF_GATEWAY, OF_GATEWAY_WITH_A_CODE, LOST, CUT_SHORT], ids=str)
def test_what_passes_is_tried_again_with_the_same_headers(first: Answer) -> None:
    with scripted(first, DONE) as (url, asked):
        assert Transport(url, "dk_secret").post("/verify", {"a": 1}, {"Idempotency-Key": "k"}) == {"done": True}
    assert [one.headers["idempotency-key"] for one in asked] == ["k", "k"]
    assert asked[0].body == asked[1].body == {"a": 1}


def test_a_pause_that_was_asked_for_is_made() -> None:
    with scripted(Answer(429, {}, {"Retry-After": "1"}), DONE) as (url, _):
        began = time.monotonic()
        assert Transport(url, "dk_secret").get("/grants") == {"done": True}
        assert time.monotonic() - began >= 1


# All clients read these headers in the same way.
SHARED = json.loads((Path(__file__).parents[2] / "answer-headers.json").read_text())


@pytest.mark.parametrize("case", SHARED["retry_after"], ids=lambda case: str(case["value"]))
def test_a_pause_of_any_form_is_made_or_told(case: dict[str, Any]) -> None:
    with scripted(Answer(429, {}, {"Retry-After": case["value"]}), Answer(409)) as (url, asked):
        with pytest.raises(ServiceError) as raised:
            Transport(url, "dk_secret", 0.5).get("/grants")
    told = (raised.value.status, raised.value.retry_after_seconds, len(asked))
    assert told == ((429, case["seconds"], 1) if case["seconds"] else (409, None, 2))


@pytest.mark.parametrize("case", SHARED["link"], ids=lambda case: str(case["value"]))
def test_a_refusal_names_the_page_about_its_code_as_the_answer_links_to_it(case: dict[str, Any]) -> None:
    with scripted(Answer(403, {}, {"Link": case["value"]})) as (url, _), pytest.raises(ServiceError) as raised:
        Transport(url, "dk_secret").get("/grants")
    assert raised.value.help_url == case["url"]


def test_a_pause_beyond_the_deadline_is_not_made() -> None:
    with scripted(Answer(429, {}, {"Retry-After": "60"})) as (url, asked):
        began = time.monotonic()
        with pytest.raises(ServiceError) as raised:
            Transport(url, "dk_secret").get("/grants")
        assert time.monotonic() - began < 4
    assert (raised.value.kind, raised.value.status, raised.value.retry_after_seconds, len(asked)) == ("refused", 429, 60, 1)


@pytest.mark.parametrize("first", [BUSY, Answer(502), Answer(504), OF_GATEWAY, OF_GATEWAY_WITH_A_CODE, FAULT, LOST, CUT_SHORT], ids=str)
def test_what_would_happen_twice_is_not_tried_again_where_it_may_have_happened(first: Answer) -> None:
    with scripted(first, DONE) as (url, asked):
        with pytest.raises(ServiceError) as raised:
            Transport(url, "dk_secret").post("/event-subscriptions", {}, is_once_only=True)
    assert len(asked) == 1
    assert raised.value.kind == ("refused" if first is BUSY else "outcome-unknown")


def test_what_would_happen_twice_is_tried_again_where_it_did_not_happen() -> None:
    with scripted(Answer(429), DONE) as (url, _):
        assert Transport(url, "dk_secret").post("/event-subscriptions", {}, is_once_only=True) == {"done": True}


@pytest.mark.parametrize("first", [LOST, BUSY], ids=str)
def test_a_refusal_after_a_lost_answer_or_a_503_does_not_say_that_nothing_happened(first: Answer) -> None:
    with scripted(first, Answer(409, {"error": "CONFLICT"})) as (url, _), pytest.raises(ServiceError) as raised:
        Transport(url, "dk_secret").post("/revoke", {})
    assert (raised.value.kind, raised.value.status, raised.value.code) == ("outcome-unknown", 409, "CONFLICT")


def test_nor_does_a_service_that_is_gone_after_a_503() -> None:
    gone = _Failure(ServiceError("refused", kind="network"), can_repeat=False, is_lost=False)

    class OnceBusy(Transport):
        answers = [_Failure(ServiceError("503", 503, kind="refused"), can_repeat=True, is_lost=False), gone]

        def _attempt(self, *_: Any) -> Any:
            return self.answers.pop(0)

    with pytest.raises(ServiceError) as raised:
        OnceBusy("https://svc.example", "dk_secret").post("/verify", {})
    assert (raised.value.kind, raised.value.status) == ("outcome-unknown", None)


def test_a_read_after_a_503_ends_as_what_came_last_and_a_503_as_one() -> None:
    with scripted(BUSY, Answer(409, {"error": "CONFLICT"})) as (url, _), pytest.raises(ServiceError) as raised:
        Transport(url, "dk_secret").get("/grants")
    assert (raised.value.kind, raised.value.status) == ("refused", 409)
    with scripted(BUSY, Answer(503, {}, {"Retry-After": "60"})) as (url, _), pytest.raises(ServiceError) as raised:
        Transport(url, "dk_secret").post("/verify", {})
    assert (raised.value.kind, raised.value.status) == ("refused", 503)


def test_what_the_service_refuses_is_told_once_with_its_words() -> None:
    with scripted(Answer(403, {"error": "FORBIDDEN", "message": "no"}, {"Svc-Request-Id": "req_1"})) as (url, asked):
        with pytest.raises(ServiceError, match="403: no") as raised:
            Transport(url, "dk_secret").get("/grants")
    assert (raised.value.kind, raised.value.code, raised.value.request_id, len(asked)) == ("refused", "FORBIDDEN", "req_1", 1)


def test_repeats_are_few_however_many_calls_there_are() -> None:
    with scripted(*[BUSY] * 20) as (url, asked):
        transport = Transport(url, "dk_secret")
        taken = sum(1 for _ in iter(transport._repeats.take, False))
        assert 100 <= taken <= 102
        with pytest.raises(ServiceError):
            transport.get("/grants")
    assert len(asked) <= 2


@pytest.mark.parametrize("key", ["", "dk é", "dk a", "x" * 513])
def test_a_key_that_is_none_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match="the API key must be") as raised:
        Transport("https://svc.example", key)
    assert key == "" or key not in str(raised.value)
