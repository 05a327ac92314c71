"""Runs every vector of this repository that concerns a signer or a verifier, and those of others."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import svc_kit
from svc_kit import base64url, ed25519, merkle, status_list
from svc_kit.identifiers import decode_did_key, encode_multikey
from svc_kit.jws import sign_jws
from svc_kit.strict_json import parse_json_of_any_numbers

VECTORS = Path(__file__).parents[3] / "vectors"
THIRD_PARTY = VECTORS / "third-party"


def files(folder: Path, pattern: str = "*.json") -> list[Path]:
    return sorted(folder.rglob(pattern))


def load(path: str) -> Any:
    return json.loads((VECTORS / path).read_text())


KEYS = load("keys.json")
SERVICE = svc_kit.ServiceKeys(KEYS["service_did_document"])
EVALUATE = [VECTORS / one["path"] for one in load("manifest.json")["files"] if one["path"].startswith("evaluate/")]
SEEDS = {key["label"]: bytes.fromhex(key["seed_hex"]) for key in KEYS["keys"]}


def cases(path: str, name: str = "cases") -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", load(path)[name], ids=lambda case: str(case["description"]))


def is_refused(call: Any, *arguments: Any) -> bool:
    try:
        call(*arguments)
    except (svc_kit.Refused, ValueError):
        return True
    return False


@cases("jcs.json")
def test_jcs(case: Any) -> None:
    if case["canonical"] is None:
        assert is_refused(lambda: svc_kit.canonicalize(parse_json_of_any_numbers(case["json"])))
        return
    canonical = svc_kit.canonicalize(parse_json_of_any_numbers(case["json"]))
    assert (canonical, svc_kit.sha256(canonical)) == (case["canonical"], case["sha256"])


@cases("htu.json")
def test_htu(case: Any) -> None:
    assert svc_kit.normalize_htu(case["input"]) == case["expected"]


@cases("jti.json")
def test_jti(case: Any) -> None:
    assert svc_kit.is_jti(case["input"]) is case["expected"]


def test_keys(record_property: Any) -> None:
    assert len(KEYS["keys"]) >= 6
    record_property("vectors", len(KEYS["keys"]))
    for key in KEYS["keys"]:
        agent = svc_kit.Agent.from_seed(SEEDS[key["label"]])
        assert agent.did == key["did_key"]
        assert encode_multikey(decode_did_key(agent.did) or b"") == key["public_key_multibase"]


@pytest.mark.parametrize("path", EVALUATE, ids=lambda path: str(path.name))
def test_evaluate(path: Path) -> None:
    """The Receipt verifies and can be signed again. What the kit reads in the tokens agrees with the checks."""
    case = json.loads(path.read_text())
    given, body, jws = case["input"], case["expected"]["body"], case["expected"]["receipt"]
    verified = svc_kit.verify_receipt({**body, "receipt": jws}, SERVICE)
    assert (verified.decision, verified.receipt) == (body["decision"], {**body, "receipt": jws})
    signer = svc_kit.Signer.from_seed(SEEDS["service receipt 1"], verified.kid)
    assert sign_jws(signer, "svc-receipt+jwt", body) == jws
    checks = body["protocol"]["checks"]
    assert (body["grant_hash"], body["proof_hash"]) == (svc_kit.sha256(given["grant"]), svc_kit.sha256(given["proof"]))
    _check_grant(given, body)
    assert is_refused(svc_kit.parse_proof, given["proof"]) is not checks["P8"]
    if checks["P8"]:
        proof = svc_kit.parse_proof(given["proof"])
        assert proof.is_signed is checks["P9"]
        if "request_hash" in body:
            action = svc_kit.check_action(json.loads(json.dumps(given["action"])))
            assert svc_kit.request_hash(action, proof.method, proof.url) == body["request_hash"]
    assert is_refused(svc_kit.check_action, given["action"]) is not checks["P15"]


def _check_grant(given: Any, body: Any) -> None:
    is_read, reason, grant = True, None, None
    try:
        grant = svc_kit.parse_grant(given["grant"])
        is_read = grant.budget_problem is None or given["relying_party"].get("profile") != "svc-base-v2"
    except svc_kit.Refused as problem:
        is_read, reason = False, problem.code
    assert is_read is body["protocol"]["checks"]["P1"]
    if grant is None and body["reason"] in ("GRANT_MALFORMED", "UNSUPPORTED_FEATURE") and reason != body["reason"]:
        # Under a profile that supports budgets, a malformed budget takes precedence over unknown features.
        assert (reason, given["relying_party"].get("profile")) == ("UNSUPPORTED_FEATURE", "svc-base-v2")
    if body["protocol"]["checks"]["P3"] is True:
        assert grant is not None and grant.id == body["grant_id"] and grant.valid_until == body["expires_at"]


@cases("merkle.json", "inclusion")
def test_inclusion(case: Any) -> None:
    try:
        leaf, root, path = (bytes.fromhex(case["leaf"]), bytes.fromhex(case["root"]), [bytes.fromhex(x) for x in case["audit_path"]])
    except ValueError:
        assert case["expected"] is False
        return
    assert merkle.verify_inclusion(leaf, case["leaf_index"], case["tree_size"], path, root) is case["expected"]


def test_roots(record_property: Any) -> None:
    merkle_vectors = load("merkle.json")
    assert len(merkle_vectors["roots"]) >= 18 and len(merkle_vectors["numbered"]) >= 4
    record_property("vectors", len(merkle_vectors["roots"]) + len(merkle_vectors["numbered"]))
    ids = [one for day in merkle_vectors["receipts"]["ids"] for one in ([day] if isinstance(day, str) else day)]
    for case in merkle_vectors["roots"]:
        leaves = [merkle.hash_leaf(one.encode()) for one in ids[: case["size"]]]
        assert merkle.root_of(leaves).hex() == case["root"]
    for case in merkle_vectors["numbered"]:
        leaves = [merkle.hash_leaf(str(i).encode()) for i in range(case["size"])]
        assert merkle.root_of(leaves).hex() == case["root"]


@cases("merkle.json", "checkpoints")
def test_checkpoint(case: Any) -> None:
    if case["expected"] is None:
        assert is_refused(svc_kit.verify_checkpoint, case["checkpoint"], SERVICE)
    else:
        assert vars(svc_kit.verify_checkpoint(case["checkpoint"], SERVICE)[0]) == case["expected"]


@cases("status-list.json", "decode")
def test_status_list(case: Any) -> None:
    bits = status_list.decode_bitstring(case["encoded_list"])
    if case["expected"] is None:
        assert bits is None
        return
    assert bits is not None and len(bits) * 8 == case["expected"]["entries"]
    assert [i for i in range(len(bits) * 8) if status_list.is_set(bits, i)] == case["expected"]["set"]


@cases("status-list.json", "credentials")
def test_signed_status_list(case: Any) -> None:
    signed = svc_kit.verify_status_list(case["credential"], SERVICE)
    assert signed.url == case["url"]
    assert [i for i in range(len(signed.bits) * 8) if signed.is_revoked(i)] == case["set"]


# ---- Vectors of others


def third_party(path: str) -> Any:
    return json.loads((THIRD_PARTY / path).read_text())


def test_json_test_suite(record_property: Any) -> None:
    """As the TypeScript library: accepts no text that must or may be refused, and of the rest all that strict JSON allows."""
    accepted, read = Counter[str](), Counter[str]()
    for path in files(THIRD_PARTY / "json-test-suite/test_parsing"):
        kind, data = path.stem[0], path.read_bytes()
        read[kind] += 1
        if is_refused(svc_kit.parse_json, data):
            continue
        accepted[kind] += 1
        assert svc_kit.parse_json(data) == json.loads(data)
        assert not is_refused(parse_json_of_any_numbers, data)
    assert read == {"y": 95, "n": 188, "i": 35}
    # The other 19 contain a number that is not an integer, U+0000, a duplicate member or a lone surrogate.
    assert accepted == {"y": 76}
    record_property("vectors", read.total())


@pytest.mark.parametrize("path", files(THIRD_PARTY / "json-test-suite/test_parsing", "n_*.json"), ids=lambda path: str(path.name))
def test_json_test_suite_of_any_numbers(path: Path) -> None:
    assert is_refused(parse_json_of_any_numbers, path.read_bytes())


@pytest.mark.parametrize("path", files(THIRD_PARTY / "jcs/input"), ids=lambda path: str(path.name))
def test_jcs_of_its_author(path: Path) -> None:
    expected = (THIRD_PARTY / "jcs/output" / path.name).read_text()
    assert svc_kit.canonicalize(parse_json_of_any_numbers(path.read_bytes())) == expected


def test_rfc8032(record_property: Any) -> None:
    cases = third_party("rfc/rfc8032-section-7.1.json")["tests"]
    assert len(cases) == 5
    record_property("vectors", len(cases))
    for case in cases:
        seed, message, signature = (bytes.fromhex(case[name]) for name in ("secretKey", "message", "signature"))
        agent = svc_kit.Agent.from_seed(seed)
        assert agent.sign(message) == signature
        assert ed25519.verify(decode_did_key(agent.did) or b"", message, signature)


def test_rfc8037() -> None:
    case = third_party("rfc/rfc8037-appendix-a.json")
    signing_input, _, signature = case["jws"].rpartition(".")
    agent = svc_kit.Agent.from_seed(base64url.decode(case["jwk"]["d"]) or b"")
    assert base64url.encode(agent.sign(signing_input.encode())) == signature
    assert base64url.encode(decode_did_key(agent.did) or b"") == case["jwk"]["x"]


def test_tokens_of_other_algorithms(record_property: Any) -> None:
    """Valid or not, none is EdDSA, so none is a Grant or a Proof."""
    tokens = [case["jws"] for group in third_party("wycheproof/json_web_signature_test.json")["testGroups"] for case in group["tests"]]
    assert all(is_refused(svc_kit.parse_grant, token) and is_refused(svc_kit.parse_proof, token) for token in tokens)
    assert len(tokens) > 300
    record_property("vectors", len(tokens))


def test_wycheproof(record_property: Any) -> None:
    groups = third_party("wycheproof/ed25519_test.json")["testGroups"]
    count = sum(len(group["tests"]) for group in groups)
    assert count == 151
    record_property("vectors", count)
    for group in groups:
        key = bytes.fromhex(group["publicKey"]["pk"])
        for case in group["tests"]:
            valid = ed25519.verify(key, bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
            assert valid is (case["result"] == "valid"), case["comment"]


def test_speccheck(record_property: Any) -> None:
    verdicts = [
        ed25519.verify(*(bytes.fromhex(case[name]) for name in ("pub_key", "message", "signature")))
        for case in third_party("ed25519-speccheck/cases.json")
    ]
    record_property("vectors", len(verdicts))
    # Verifiers differ on each of them, so all are refused.
    assert verdicts == [False] * 12


def test_cctv(record_property: Any) -> None:
    cases = third_party("cctv-ed25519/ed25519vectors.json")
    assert len(cases) == 914
    record_property("vectors", len(cases))
    for case in cases:
        key, signature = bytes.fromhex(case["key"]), bytes.fromhex(case["sig"])
        assert ed25519.verify(key, case["msg"].encode(), signature) is not bool(case["flags"]), case


@pytest.mark.parametrize("path", files(THIRD_PARTY / "merkle-inclusion"), ids=lambda path: str(path.name))
def test_inclusion_of_others(path: Path) -> None:
    case = json.loads(path.read_text())
    decode = base64.b64decode
    leaf, root, steps = (decode(case["leafHash"] or ""), decode(case["root"] or ""), [decode(x) for x in case["proof"] or []])
    assert merkle.verify_inclusion(leaf, case["leafIdx"], case["treeSize"], steps, root) is not case["wantErr"]


def test_did_key(record_property: Any) -> None:
    cases = third_party("did-key/ed25519-x25519.json")
    assert len(cases) == 5
    record_property("vectors", len(cases))
    for did, case in cases.items():
        method = case["didDocument"]["verificationMethod"][0]
        key = decode_did_key(did)
        assert key is not None and did == f"did:key:{encode_multikey(key)}"
        if "publicKeyJwk" in method:
            assert base64url.encode(key) == method["publicKeyJwk"]["x"]
