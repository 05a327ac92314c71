"""Subscriptions: the requests, and that other answers are bad responses. Against a running API: examples/events.py."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import Answer, scripted

from svc_kit import EventSubscriptions, ServiceError

ID = "whs_01M7VZGC008Q2R7V9X1C4E6H8R"
SUBSCRIPTION: dict[str, Any] = {
    **{"subscription_id": ID, "url": "https://shop.example/hooks", "description": None, "types": ["grant.revoked"]},
    **{"budget_low_percent": 20, "created_at": "2026-11-20T10:47:39.372Z", "created_by": None, "state": "active"},
    **{"failing_since": None, "last_problem": None, "disabled_at": None, "disabled_because": None, "waiting": 0},
    "secrets": [{"number": 1, "ends_at": None}],
}
SECRET = f"whsec_{'A' * 43}="
DELIVERY: dict[str, Any] = {
    **{"event_id": "evt_1", "type": "ping", "state": "delivered", "attempts": 1, "last_attempt_at": None},
    **{"last_status": 204, "last_problem": None, "next_attempt_at": None},
}


def test_a_secret_is_answered_and_not_shown() -> None:
    with scripted(Answer(201, {**SUBSCRIPTION, "secret": SECRET, "new": 1})) as (url, asked):
        created = EventSubscriptions(url, "dk_rp_secret").create("https://shop.example/hooks", ["grant.revoked"])
    assert created.secret == SECRET and SECRET not in repr(created)
    assert (created.subscription.subscription_id, created.subscription.secrets[0].number) == (ID, 1)
    assert asked[0].body == {"url": "https://shop.example/hooks", "types": ["grant.revoked"]}


def test_deliveries_are_read_page_by_page() -> None:
    pages = [{"deliveries": [DELIVERY], "next_cursor": "a b"}, {"deliveries": [DELIVERY], "next_cursor": None}]
    with scripted(*(Answer(200, page) for page in pages)) as (url, asked):
        assert [one.last_status for one in EventSubscriptions(url, "dk").deliveries(ID, limit=1)] == [204, 204]
    path = f"/event-subscriptions/{ID}/deliveries?limit=1"
    assert [one.path for one in asked] == [path, f"{path}&cursor=a+b"]


def test_a_list_that_leads_back_into_itself_ends() -> None:
    page = {"deliveries": [DELIVERY], "next_cursor": "a"}
    with scripted(*[Answer(200, page)] * 5) as (url, asked), pytest.raises(ServiceError, match="back into itself"):
        list(EventSubscriptions(url, "dk").deliveries(ID))
    assert len(asked) == 2


@pytest.mark.parametrize(
    "wrong",
    [{"waiting": "0"}, {"waiting": True}, {"state": None}, {"types": [1]}, {"secrets": {}}, {"subscription_id": f"{ID[:-1]}0"}],
    ids=str,
)
def test_what_is_not_of_the_interface_is_no_answer(wrong: dict[str, Any]) -> None:
    with scripted(Answer(200, {**SUBSCRIPTION, **wrong})) as (url, _), pytest.raises(ServiceError):
        EventSubscriptions(url, "dk").disable(ID)


@pytest.mark.parametrize("given", ["", "../revoke", f"{ID}/x", ID.lower()])
def test_nothing_is_asked_about_what_is_no_subscription(given: str) -> None:
    with pytest.raises(ValueError, match="subscription_id"):
        EventSubscriptions("http://127.0.0.1:1", "dk").delete(given)


def test_a_replay_is_from_a_time_or_from_an_event() -> None:
    subscriptions = EventSubscriptions("http://127.0.0.1:1", "dk")
    for since, event_id in ((None, None), ("2026-11-20T10:47:39Z", "evt_1")):
        with pytest.raises(ValueError, match="not both"):
            subscriptions.replay(ID, since=since, event_id=event_id)
