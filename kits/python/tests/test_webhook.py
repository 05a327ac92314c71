"""Webhooks are accepted for a signature by a secret or the service's key, over these bytes, and recent."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from svc_kit import Agent, Refused, ServiceKeys, verify_webhook

KEYS = json.loads((Path(__file__).parents[3] / "vectors/keys.json").read_text())
SERVICE = ServiceKeys(KEYS["service_did_document"])
SEEDS = {key["label"]: bytes.fromhex(key["seed_hex"]) for key in KEYS["keys"]}
NOW = 1_795_000_000
SUBSCRIPTION = "whs_01M7VZGC008Q2R7V9X1C4E6H8R"
OLD, NEW = (f"whsec_{base64.b64encode(bytes([i]) * 32).decode()}" for i in (1, 2))
EVENT = {
    "type": "grant.revoked",
    "timestamp": "2026-11-20T10:47:39.372Z",
    "subscription_id": SUBSCRIPTION,
    "data": {"grant_id": "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT"},
}
BODY = json.dumps(EVENT)


def by_secret(secret: str, signed: str) -> str:
    digest = hmac.new(base64.b64decode(secret[6:]), signed.encode(), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def by_key(label: str, signed: str) -> str:
    return f"v1a,{base64.b64encode(Agent.from_seed(SEEDS[label]).sign(signed.encode())).decode()}"


def headers(signature: str, at: int = NOW, event_id: str = "evt_1") -> dict[str, str]:
    return {"Webhook-Id": event_id, "WEBHOOK-TIMESTAMP": str(at), "webhook-signature": signature}


def signed(at: int = NOW, body: str = BODY, event_id: str = "evt_1") -> str:
    return f"{event_id}.{at}.{body}"


def verify(given: Any, body: str | bytes = BODY, **trust: Any) -> Any:
    return verify_webhook(given, body, now=lambda: NOW, **trust)


STATUS_KEY = next(label for label in SEEDS if label.startswith("service status"))


@pytest.mark.parametrize("body", [BODY, BODY.encode()], ids=["text", "bytes"])
def test_an_event_is_read_by_the_secret_it_was_signed_with(body: str | bytes) -> None:
    event = verify(headers(by_secret(OLD, signed())), body, secret=OLD)
    assert (event.id, event.type, event.subscription_id, event.data) == ("evt_1", EVENT["type"], SUBSCRIPTION, EVENT["data"])


def test_during_a_rotation_either_secret_counts() -> None:
    both = f"{by_secret(NEW, signed())} {by_secret(OLD, signed())}"
    for trusted in (OLD, NEW, [OLD, NEW]):
        assert verify(headers(both), secret=trusted).id == "evt_1"
    assert verify(headers(f"v9,AAAA {by_secret(NEW, signed())}"), secret=[OLD, NEW]).id == "evt_1"


def test_the_service_s_own_signature_counts_for_this_subscription_alone() -> None:
    given = headers(by_key(STATUS_KEY, signed()))
    assert verify(given, keys=SERVICE, subscription_id=SUBSCRIPTION).id == "evt_1"
    assert verify(given, keys=SERVICE, subscription_id=SUBSCRIPTION, secret=OLD).id == "evt_1"
    with pytest.raises(Refused, match="another subscription"):
        verify(given, keys=SERVICE, subscription_id="whs_01M7VZGC008Q2R7V9X1C4E6H8S")


@pytest.mark.parametrize(
    ("given", "body"),
    [
        pytest.param(headers(by_secret(NEW, signed())), BODY, id="another secret"),
        pytest.param(headers(by_secret(OLD, signed())), BODY + " ", id="another body"),
        pytest.param(headers(by_secret(OLD, signed()), event_id="evt_2"), BODY, id="another id"),
        pytest.param(headers(by_secret(OLD, signed()), at=NOW + 1), BODY, id="another time"),
        pytest.param(headers(by_secret(OLD, signed(event_id="evt.1")), event_id="evt.1"), BODY, id="an id with a full stop"),
        pytest.param(headers(by_secret(OLD, signed()), event_id="\ud800"), BODY, id="an id that is no text"),
        pytest.param(dict[str, Any](headers(by_secret(OLD, signed()))) | {"Webhook-Id": None}, BODY, id="a header that is no text"),
        pytest.param(headers(by_secret(OLD, signed(NOW - 301)), at=NOW - 301), BODY, id="too old"),
        pytest.param(headers(by_secret(OLD, signed(NOW + 301)), at=NOW + 301), BODY, id="too early"),
        pytest.param(headers(by_key("service receipt 1", signed())), BODY, id="a key for Receipts"),
        pytest.param(headers(by_key(STATUS_KEY, signed() + "x")), BODY, id="a signature over something else"),
        pytest.param(headers(" ".join([by_key(STATUS_KEY, signed())] * 2)), BODY, id="v1a twice"),
        pytest.param(headers("v1,!!!"), BODY, id="no base64"),
        pytest.param(headers(""), BODY, id="no signature"),
        pytest.param({"webhook-id": "evt_1", "webhook-timestamp": str(NOW)}, BODY, id="a header missing"),
        pytest.param(dict[str, Any](headers(by_secret(OLD, signed()))) | {"Webhook-Id": ["evt_1", "evt_1"]}, BODY, id="a header twice"),
        pytest.param({**headers(by_secret(OLD, signed())), "webhook-Id": "evt_1"}, BODY, id="a header in two spellings"),
        pytest.param({**headers(by_secret(OLD, signed())), "WEBHOOK-TIMESTAMP": f" {NOW}"}, BODY, id="a time with a space"),
        pytest.param(headers(by_secret(OLD, signed(body="[]"))), "[]", id="no object"),
        pytest.param(headers(by_secret(OLD, signed(body='{"type":1}'))), '{"type":1}', id="no event"),
        pytest.param(
            headers(by_secret(OLD, signed(body=BODY[:-1] + ',"type":"ping"}'))), BODY[:-1] + ',"type":"ping"}', id="a member twice"
        ),
        pytest.param(headers(by_secret(OLD, signed(body=" " * 65_537))), " " * 65_537, id="too long"),
    ],
)
def test_what_is_not_to_be_believed_is_refused(given: Any, body: str) -> None:
    with pytest.raises(Refused) as raised:
        verify(given, body, secret=OLD, keys=SERVICE, subscription_id=SUBSCRIPTION)
    assert raised.value.code == "webhook-invalid"


@pytest.mark.parametrize(
    "trust",
    [
        {},
        {"secret": ""},
        {"secret": "whsec_short"},
        {"secret": [OLD, NEW, OLD]},
        {"keys": SERVICE},
        {"secret": OLD, "tolerance_seconds": 0},
    ],
    ids=str,
)
def test_trust_that_is_none_is_refused_without_the_secret(trust: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as raised:
        verify(headers(by_secret(OLD, signed())), **trust)
    assert OLD not in str(raised.value)
