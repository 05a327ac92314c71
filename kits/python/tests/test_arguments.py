"""Whatever the arguments of a public function or method: it returns, or raises an exception of this package."""

from __future__ import annotations

import inspect
import math
import random
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_webhook import BODY, KEYS, NOW, OLD, SEEDS, SERVICE, SUBSCRIPTION, by_secret, headers, signed

import svc_kit
from svc_kit import Agent, EventSubscriptions, InvalidArgument, Principal, RelyingParty, ServiceKeys, Signer, SvcError

AGENT = Agent.from_seed(bytes(range(32)))
SIGNER = Signer.from_seed(bytes(range(32)), "did:web:acme.example#key-1")
ACTION = {"type": "commerce:purchase", "resource": "order/7", "amount": 42_700, "currency": "USD"}
GRANT_ID = "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT"
URL = "https://shop.example/checkout"
STATUS = {
    "id": "https://svc.example/status-lists/1#7",
    "type": "BitstringStatusListEntry",
    "statusPurpose": "revocation",
    "statusListIndex": "7",
    "statusListCredential": "https://svc.example/status-lists/1",
}
ALLOCATION: dict[str, Any] = {"id": GRANT_ID, "issuer": "did:web:acme.example", "agent": AGENT.did, "credentialStatus": STATUS}
CAPABILITIES = [svc_kit.purchase(50_000, "USD", ["order/*"])]
VALID_FROM = 1_795_161_600
GRANT = svc_kit.sign_grant(SIGNER, ALLOCATION, capabilities=CAPABILITIES, valid_from=VALID_FROM)
PROOF = svc_kit.sign_proof(AGENT, grant_id=GRANT_ID, audience="did:web:shop.example", method="POST", url=URL, action=ACTION)
LIST = svc_kit.StatusList("https://svc.example/status-lists/1", "2026-11-20T10:00:00Z", bytes(16_384))

DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]
CYCLE: dict[str, Any] = {}
CYCLE["again"] = CYCLE
WRONG: list[Any] = [
    *(None, True, 0, -1, 2**64, 10**400, 0.5, math.nan, math.inf, object(), int, lambda *_: None, NotImplemented, range(3)),
    *("", "\0", "\ud800", "x" * 100_000, "did:web:", "did:key:z6Mk", "https://[", "http://127.0.0.1:99999", "{}", "[" * 5_000, "a.b.c", "e30.e30.AA"),
    *(b"", b"\xff", bytes(31), bytearray(32), memoryview(b"x"), [], [None], [""], ["\ud800"], (), {}, {1: 2}, {None: None}, {"\ud800": 1}),
    *({"receipt": 1}, {"id": [], "verificationMethod": [1]}, {"webhook-id": None}, {b"webhook-id": b"x"}, set(), DEEP, CYCLE, [CYCLE]),
]

Call = tuple[Callable[..., Any], dict[str, Any]]


def calls_to(url: str) -> dict[str, Call]:
    """Every public function and method with arguments that are of the right types, by name."""
    to: dict[str, Any] = {"base_url": url, "api_key": "dk_secret", "timeout_seconds": 0.2}
    shop = RelyingParty(**to, did_document=SERVICE, relying_party="did:web:shop.example")
    principal, events = Principal(**to, signer=SIGNER), EventSubscriptions(**to)
    webhook = headers(by_secret(OLD, signed()))
    trust = {"keys": SERVICE, "subscription_id": SUBSCRIPTION, "tolerance_seconds": 300, "now": lambda: NOW}
    verified = {"did_document": KEYS["service_did_document"], "service_did": SERVICE.did}
    inclusion = {"inclusion": {}, "checkpoint": "a.b.c", "attestation": "a.b.c", **verified}
    proof = {"grant_id": GRANT_ID, "audience": "did:web:shop.example", "method": "POST", "url": URL, "action": ACTION}
    of = {"subscription_id": SUBSCRIPTION}
    return {
        "Agent": (Agent, {"kid": AGENT.kid, "sign": AGENT.sign, "did": AGENT.did}),
        "Agent.from_seed": (Agent.from_seed, {"seed": bytes(32), "kid": "k"}),
        "Signer": (Signer, {"kid": SIGNER.kid, "sign": SIGNER.sign}),
        "Signer.from_seed": (Signer.from_seed, {"seed": bytes(32), "kid": "k"}),
        "EventSubscriptions": (EventSubscriptions, to),
        "EventSubscriptions.create": (events.create, {"url": URL, "types": ["decision.deny"], "description": "", "budget_low_percent": 5}),
        "EventSubscriptions.list": (events.list, {}),
        **{f"EventSubscriptions.{name}": (getattr(events, name), of) for name in ("test", "rotate", "disable", "enable", "delete")},
        "EventSubscriptions.replay": (events.replay, {**of, "since": "2026-11-20T10:00:00Z", "event_id": None}),
        "EventSubscriptions.deliveries": (lambda **given: list(events.deliveries(**given)), {**of, "limit": 5}),
        "Grant.is_signed_by": (svc_kit.parse_grant(GRANT).is_signed_by, {"key": bytes(32)}),
        "Principal": (Principal, {**to, "signer": SIGNER}),
        "Principal.issue": (
            principal.issue,
            {"agent": AGENT.did, "capabilities": CAPABILITIES, "audience": ["did:web:shop.example"], "valid_from": 0, "lifetime_seconds": 1},
        ),
        "Principal.revoke": (principal.revoke, {"grant_id": GRANT_ID, "patience_seconds": 0.2}),
        "RelyingParty": (RelyingParty, {**to, **verified, "relying_party": "did:web:shop.example"}),
        "RelyingParty.verify": (
            shop.verify,
            {"grant": GRANT, "proof": PROOF, "action": ACTION, "method": "POST", "url": URL, "now": lambda: NOW},
        ),
        "ServiceKeys": (ServiceKeys, verified),
        "ServiceKeys.check": (
            SERVICE.check,
            {"purpose": "status", "kid": f"{SERVICE.did}#status-1", "jws": svc_kit.parse_grant(GRANT).jws, "signed_at_ms": 0},
        ),
        "ServiceKeys.kids": (SERVICE.kids, {}),
        "StatusList.is_revoked": (LIST.is_revoked, {"index": 7}),
        "api_call": (svc_kit.api_call, {"methods": ["GET"], "resources": ["*"]}),
        "canonicalize": (svc_kit.canonicalize, {"value": {"a": [1, 0.5, None]}}),
        "check_action": (svc_kit.check_action, {"action": ACTION}),
        "is_jti": (svc_kit.is_jti, {"value": "x" * 22}),
        "normalize_htu": (svc_kit.normalize_htu, {"url": URL}),
        "parse_grant": (svc_kit.parse_grant, {"text": GRANT}),
        "parse_json": (svc_kit.parse_json, {"text": "{}"}),
        "parse_proof": (svc_kit.parse_proof, {"text": PROOF}),
        "purchase": (svc_kit.purchase, {"max_amount": 1, "currency": "USD", "resources": ["*"]}),
        "request_hash": (svc_kit.request_hash, {"action": ACTION, "method": "POST", "url": URL}),
        "sha256": (svc_kit.sha256, {"data": "x"}),
        "sign_grant": (
            svc_kit.sign_grant,
            {"signer": SIGNER, "allocation": ALLOCATION, "capabilities": CAPABILITIES, "audience": ["did:web:shop.example"], "valid_from": 0, "lifetime_seconds": 1},
        ),
        "sign_proof": (svc_kit.sign_proof, {"agent": AGENT, **proof, "now": lambda: NOW, "jti": "x" * 22}),
        "verify_bundle": (svc_kit.verify_bundle, {"bundle": {}, **verified}),
        "verify_checkpoint": (svc_kit.verify_checkpoint, {"checkpoint": "a.b.c", **verified}),
        "verify_included_receipt": (svc_kit.verify_included_receipt, {"receipt": {}, **inclusion}),
        "verify_receipt": (svc_kit.verify_receipt, {"receipt": {}, **verified}),
        "verify_receipt_inclusion": (svc_kit.verify_receipt_inclusion, {"receipt_id": "drc_1", **inclusion}),
        "verify_status_list": (svc_kit.verify_status_list, {"credential": "a.b.c", **verified}),
        "verify_webhook": (svc_kit.verify_webhook, {"headers": webhook, "body": BODY, "secret": OLD, **trust}),
    }


ERRORS = {"InvalidArgument", "Refused", "ServiceError", "SvcError"}
# Types that functions return and callers need not make; Python itself checks how they are made.
RECORDS = {
    *("Attestation", "Checkpoint", "CreatedSubscription", "Decision", "Delivery", "Grant", "Proof", "RotatedSecret", "Secret", "StatusList"),
    *("Subscription", "VerifiedBundle", "VerifiedInclusion", "VerifiedReceipt", "WebhookEvent"),
}
NAMES = sorted(calls_to("http://127.0.0.1:1"))


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """Refuses every call."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:  # the end of the tests
                    return
                with connection:
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=30)


def test_every_public_function_and_method_is_among_them() -> None:
    methods = {
        f"{name}.{method}"
        for name in svc_kit.__all__
        if isinstance(made := getattr(svc_kit, name), type) and name not in ERRORS
        for method, function in vars(made).items()
        if not method.startswith("_") and callable(getattr(made, method)) and not isinstance(function, property)
        # A field with a default is no method.
        and method not in getattr(made, "__dataclass_fields__", {})
    }
    functions = {name for name in svc_kit.__all__ if name != "Json"} - ERRORS - RECORDS
    assert functions | methods == set(NAMES)


def outcome(call: Callable[..., Any], given: dict[str, Any]) -> SvcError | None:
    try:
        call(**given)
    except SvcError as problem:
        # For example in a traceback that is printed: it does not contain a key.
        assert "dk_secret" not in str(problem) and OLD not in str(problem)
        return problem
    return None


@pytest.mark.parametrize("name", NAMES)
def test_one_wrong_argument_is_refused_by_this_package_alone(name: str, service: str) -> None:
    call, right = calls_to(service)[name]
    for argument in right:
        for wrong in WRONG:
            outcome(call, {**right, argument: wrong})


@pytest.mark.parametrize("name", NAMES)
def test_so_is_any_mix_of_wrong_arguments(name: str, service: str) -> None:
    call, right = calls_to(service)[name]
    pick = random.Random(name)
    for _ in range(30 if "." in name else 300):
        outcome(call, {argument: pick.choice([value, *pick.choices(WRONG, k=2)]) for argument, value in right.items()})


@pytest.mark.parametrize("argument", ["headers", "body", "secret", "now", "tolerance_seconds", "subscription_id", "keys"])
def test_an_argument_of_another_type_is_named_and_not_shown(argument: str) -> None:
    call, right = calls_to("http://127.0.0.1:1")["verify_webhook"]
    problem = outcome(call, {**right, argument: object()})
    assert isinstance(problem, InvalidArgument) and str(problem).startswith(f"{argument} must be ") and str(problem).endswith("not object")


def test_types_are_those_of_the_signature() -> None:
    """The decorator leaves name, text and signature as they are."""
    assert list(inspect.signature(svc_kit.verify_webhook).parameters)[:2] == ["headers", "body"]
    assert svc_kit.verify_webhook.__doc__ is not None


def test_a_bundle_is_refused_for_its_first_fault(service: str) -> None:
    _, right = calls_to(service)["verify_bundle"]
    parts: dict[str, Any] = {"receipt": "a.b.c", "inclusion": {}, "did_document": {}, "evidence": []}
    records: list[Any] = [None, {}]
    problems = [outcome(svc_kit.verify_bundle, {**right, "bundle": {**parts, "checkpoint": record}}) for record in records]
    codes = [problem.code for problem in problems if isinstance(problem, svc_kit.Refused)]
    assert codes == ["malformed-receipt"] * 2


def test_a_jws_in_place_of_its_receipt_is_called_one(service: str) -> None:
    _, right = calls_to(service)["verify_receipt"]
    problem = outcome(svc_kit.verify_receipt, {**right, "receipt": "eyJhbGciOiJFZERTQSJ9.e30.AAAA"})
    assert str(problem) == "malformed-receipt: this is a JWS: pass the whole answer"
