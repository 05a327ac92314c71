"""Answers the questions of ``npm run kits``: reads one JSON object per line and writes one JSON value per line."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import svc_kit  # noqa: E402
from svc_kit import ed25519, identifiers, merkle, status_list  # noqa: E402
from svc_kit.strict_json import parse_json_of_any_numbers  # noqa: E402


def text(data: str) -> str:
    return bytes.fromhex(data).decode("utf-8", "replace")


def or_none(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (svc_kit.Refused, ValueError):
        return None


def or_code(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except svc_kit.Refused as problem:
        return {"code": problem.code}


def action(text: str) -> bool:
    return or_none(lambda: svc_kit.check_action(svc_kit.parse_json(bytes.fromhex(text)))) is not None


def proof(token: str) -> Any:
    read = svc_kit.parse_proof(text(token))
    return [read.agent, read.audience, read.grant_id, read.method, read.url, read.iat, read.jti, read.is_signed]


def grant(token: str) -> Any:
    read = svc_kit.parse_grant(text(token))
    audience = None if read.audience is None else list(read.audience)
    return [read.kid, read.id, read.issuer, read.agent, read.valid_from, read.valid_until, audience, read.budget_problem is None]


def receipt(text: str, document: str) -> Any:
    verified = svc_kit.verify_receipt(bytes.fromhex(text), document)
    return [verified.decision, verified.kid]


def checkpoint(data: str, document: str) -> Any:
    verified, kid = svc_kit.verify_checkpoint(text(data), document)
    return [verified.day, verified.root, kid]


def included(receipt: str, inclusion: str, checkpoint: str, attestation: str, document: str) -> Any:
    verified, inside = svc_kit.verify_included_receipt(
        receipt, inclusion, document, checkpoint=checkpoint or None, attestation=attestation or None
    )
    return [verified.decision, inside.checkpoint.day]


def bundle(text: str, document: str) -> Any:
    verified = svc_kit.verify_bundle(bytes.fromhex(text), document)
    return [verified.receipt.decision, verified.inclusion.checkpoint.day, len(verified.evidence)]


def bits(data: str) -> str | None:
    decoded = status_list.decode_bitstring(text(data))
    return None if decoded is None else hashlib.sha256(decoded).hexdigest()


def signed_list(data: str, document: str) -> Any:
    verified = svc_kit.verify_status_list(text(data), document)
    return [verified.url, verified.valid_from, hashlib.sha256(verified.bits).hexdigest()]


def webhook(headers: Any, text: str, secrets: list[str], document: str, subscription: str, now: int) -> Any:
    event = svc_kit.verify_webhook(
        headers,
        bytes.fromhex(text),
        secret=secrets,
        keys=svc_kit.ServiceKeys(document) if document else None,
        subscription_id=subscription or None,
        now=lambda: float(now),
    )
    return [event.id, event.type, event.timestamp, event.subscription_id, svc_kit.canonicalize(event.data)]


def sign_grant(seed: str, kid: str, allocation: Any, **request: Any) -> str:
    if request["audience"] is None:
        del request["audience"]  # for any relying party
    return svc_kit.sign_grant(svc_kit.Signer.from_seed(bytes.fromhex(seed), kid), allocation, **request)


def sign_proof(seed: str, request: Any) -> str:
    agent, now = svc_kit.Agent.from_seed(bytes.fromhex(seed)), float(request.pop("now"))
    return svc_kit.sign_proof(agent, **request, now=lambda: now)


ANSWERS: dict[str, Callable[..., Any]] = {
    "json": lambda text: or_none(lambda: svc_kit.canonicalize(svc_kit.parse_json(bytes.fromhex(text)))),
    "jcs": lambda text: or_none(lambda: svc_kit.canonicalize(parse_json_of_any_numbers(bytes.fromhex(text)))),
    "htu": lambda url: svc_kit.normalize_htu(text(url)),
    "jti": lambda text: svc_kit.is_jti(bytes.fromhex(text).decode("utf-8", "replace")),
    "didWeb": lambda text: identifiers.is_did_web(bytes.fromhex(text).decode("utf-8", "replace")),
    "time": lambda text: identifiers.parse_time(bytes.fromhex(text).decode("utf-8", "replace")),
    "ed25519": lambda key, message, signature: ed25519.verify(*map(bytes.fromhex, (key, message, signature))),
    "strictKey": lambda key: ed25519.is_strict_public_key(bytes.fromhex(key)),
    "action": action,
    "proof": lambda token: or_none(lambda: proof(token)),
    "grant": lambda token: or_code(lambda: grant(token)),
    "receipt": lambda **of: or_code(lambda: receipt(**of)),
    "checkpoint": lambda text, document: or_code(lambda: checkpoint(text, document)),
    "included": lambda **of: or_code(lambda: included(**of)),
    "bundle": lambda **of: or_code(lambda: bundle(**of)),
    "merkle": lambda leaf, index, size, path, root: merkle.verify_inclusion(
        bytes.fromhex(leaf), index, size, [bytes.fromhex(step) for step in path], bytes.fromhex(root)
    ),
    "bitstring": lambda text: bits(text),
    "statusList": lambda text, document: or_code(lambda: signed_list(text, document)),
    "dryRun": lambda **of: or_code(lambda: receipt(**of)),
    "webhook": lambda **of: or_none(lambda: webhook(**of)),
    "signGrant": lambda **of: or_none(lambda: sign_grant(**of)),
    "signProof": lambda **of: or_none(lambda: sign_proof(**of)),
}

if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps(ANSWERS[question.pop("op")](**question)), flush=True)
