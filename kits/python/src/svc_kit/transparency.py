"""Verifies that a Receipt is in the signed checkpoint of its day, and verifies bundles (protocol §12)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import base64url
from .arguments import checked_but
from .errors import Refused
from .identifiers import format_day, is_count, is_day, is_did_web, is_receipt_id, is_sha256, parse_seconds, ulid_time
from .jcs import canonicalize
from .jws import Jws, exact_kid, parse_jws, sha256
from .merkle import hash_leaf, root_of, verify_inclusion
from .receipt import Document, Signed, VerifiedReceipt, open_keys, verify_signed
from .service_keys import ServiceKeys
from .strict_json import parse_json

_HEX = re.compile(r"[0-9a-f]{64}")
_KEY_NUMBER = re.compile(r"[1-9][0-9]*")
_JSON_SPACE = " \t\r\n"
"""The only white space allowed around a JWS. Languages differ in what ``strip`` removes by default."""
_MOST_APART_SECONDS = 300
"""The clocks that dated a checkpoint and its attestation differ by at most this."""


@dataclass(frozen=True)
class Checkpoint:
    """What the service signed about a day."""

    iss: str
    day: str
    tree_size: int
    root: str
    previous_root: str | None
    first_receipt_id: str | None
    last_receipt_id: str | None
    iat: int
    tree: str


@dataclass(frozen=True)
class Attestation:
    """Vouches, under a key in force, for a Receipt and a checkpoint whose key is no longer in force."""

    iss: str
    receipt_id: str
    receipt_hash: str
    checkpoint_hash: str
    iat: int


@dataclass(frozen=True)
class VerifiedInclusion:
    checkpoint: Checkpoint
    kid: str
    leaf_index: int
    attestation: Attestation | None


@dataclass(frozen=True)
class VerifiedBundle:
    receipt: VerifiedReceipt
    inclusion: VerifiedInclusion
    evidence: dict[str, str]
    """The artifacts that are text, by hash."""


def _day_of(receipt_id: Any) -> str | None:
    return format_day(ulid_time(receipt_id)) if is_receipt_id(receipt_id) else None


# ---- Checkpoints


@checked_but("did_document")
def verify_checkpoint(
    checkpoint: str, did_document: Document | ServiceKeys, *, service_did: str | None = None
) -> tuple[Checkpoint, str]:
    """The checkpoint in a compact JWS and the kid of the signing key; ``Refused`` otherwise."""
    keys = open_keys(did_document, service_did)
    return _verify_checkpoint(checkpoint, keys, is_attested=False)


def _verify_checkpoint(text: str, keys: ServiceKeys, *, is_attested: bool) -> tuple[Checkpoint, str]:
    jws, kid, checkpoint = _parse_checkpoint(text)
    untimely = keys.check("status", kid, jws, None if is_attested else checkpoint.iat * 1000)
    if untimely is not None:
        raise Refused("key-not-in-force", f"the checkpoint: {untimely}")
    return checkpoint, kid


def _parse_checkpoint(text: str) -> tuple[Jws, str, Checkpoint]:
    jws = parse_jws(text, 4096)
    kid = exact_kid(jws, "svc-checkpoint+jwt")
    claims: Any = jws.payload
    if canonicalize(claims) != jws.payload_text:
        raise Refused("payload-not-canonical", "the payload must be in RFC 8785 form")
    _check_members(claims, Checkpoint.__annotations__)
    for name, is_right in (
        ("day", is_day),
        ("first_receipt_id", lambda value: value is None or is_receipt_id(value)),
        ("iat", lambda value: is_count(value) and value >= 1),
        ("iss", is_did_web),
        ("last_receipt_id", lambda value: value is None or is_receipt_id(value)),
        ("previous_root", lambda value: value is None or is_sha256(value)),
        ("root", is_sha256),
        ("tree", lambda value: value == "rfc6962-sha256"),
        ("tree_size", is_count),
    ):
        if not is_right(claims[name]):
            raise Refused("malformed-member", f"/{name} of the checkpoint has not its form")
    checkpoint = Checkpoint(**claims)
    _check_agreement(checkpoint)
    prefix = f"{checkpoint.iss}#status-"
    if not kid.startswith(prefix) or _KEY_NUMBER.fullmatch(kid[len(prefix) :]) is None:
        raise Refused("wrong-header", f"the kid must be {prefix}<n>, not {kid!r}")
    return jws, kid, checkpoint


def _check_members(claims: Mapping[str, Any], names: Mapping[str, Any]) -> None:
    for name in claims:
        if name not in names:
            raise Refused("unknown-member", f"/{name} is unknown")
    for name in names:
        if name not in claims:
            raise Refused("missing-member", f"/{name} is missing")


def _check_agreement(checkpoint: Checkpoint) -> None:
    size, first, last = checkpoint.tree_size, checkpoint.first_receipt_id, checkpoint.last_receipt_id
    begin = parse_seconds(f"{checkpoint.day}T00:00:00Z")
    assert begin is not None
    if checkpoint.iat * 1000 < begin + 86_400_000:
        raise Refused("contradiction", "/iat must not be before the end of the day")
    for receipt_id in (first, last):
        if (receipt_id is None) != (size == 0):
            raise Refused("contradiction", "first and last Receipt must be there exactly where there are Receipts")
        if receipt_id is not None and _day_of(receipt_id) != checkpoint.day:
            raise Refused("contradiction", f"{receipt_id} is of another day")
    if first is not None and last is not None and not (first == last if size == 1 else first < last):
        raise Refused("contradiction", "/last_receipt_id must come after the first one")
    ids = [receipt_id for receipt_id in (first, last)[:size] if receipt_id is not None]
    # With at most two Receipts the checkpoint names every leaf.
    if size <= 2 and checkpoint.root != f"sha256:{root_of([hash_leaf(one.encode()) for one in ids]).hex()}":
        raise Refused("contradiction", "/root must be that of the ids")


# ---- Inclusion


@checked_but("inclusion", "did_document", "checkpoint", "attestation")
def verify_receipt_inclusion(
    receipt_id: str,
    inclusion: Document,
    did_document: Document | ServiceKeys,
    *,
    checkpoint: Document | None = None,
    attestation: Document | None = None,
    service_did: str | None = None,
) -> VerifiedInclusion:
    """Verifies that a Receipt is in its day's checkpoint. Size and root come from the signed checkpoint.

    Args:
        receipt_id: Of a verified Receipt.
        inclusion: The answer of ``GET /decisions/{receipt_id}/inclusion``.
        checkpoint: The day's checkpoint from another source, record or JWS. It must be the one in the proof. Without it, a
            service that shows two readers different checkpoints is not detected.
        attestation: The answer of ``GET /decisions/{receipt_id}/attestation``, or the JWS in it.

    Raises:
        Refused: With the code of the first fault.
    """
    keys = open_keys(did_document, service_did)
    record = _read_inclusion(inclusion)
    jws, shown = record["checkpoint"], None
    if checkpoint is not None:
        jws, shown = _find_jws(checkpoint, "checkpoint", "malformed-checkpoint")
        if jws != record["checkpoint"]:
            raise Refused("other-checkpoint", "the checkpoint given is not the one in the proof")
    attested = None if attestation is None else _verify_attestation(attestation, receipt_id, jws, keys)
    signed, kid = _verify_checkpoint(jws, keys, is_attested=attested is not None)
    # A thief of an ended key would date an attestation before the key's end. No later checkpoint can have existed then.
    if attested is not None and attested.iat + _MOST_APART_SECONDS < signed.iat:
        raise Refused("wrong-attestation", f"the attestation is dated before the checkpoint that it is of, {signed.day}")
    if shown is not None:
        right = {**vars(signed), "kid": kid, "checkpoint_hash": sha256(jws)}
        # In Python True equals 1, but no signed value is true or false.
        if any(name in shown and (isinstance(shown[name], bool) or shown[name] != value) for name, value in right.items()):
            raise Refused("payload-mismatch", "the members beside the checkpoint's JWS are not those that were signed")
    leaf = hash_leaf(receipt_id.encode("utf-8", "surrogatepass"))
    if record["receipt_id"] != receipt_id:
        raise Refused("other-receipt", f"the proof is of {record['receipt_id']}, not of {receipt_id}")
    if record["leaf"] != leaf.hex():
        raise Refused("wrong-leaf", "/leaf must be the hash of the Receipt's id")
    agreed: dict[str, Any] = {"day": signed.day, "tree_size": signed.tree_size, "root": signed.root, "kid": kid}
    for name, value in agreed.items():
        if record[name] != value:
            raise Refused("contradiction", f"/{name} must be {value} by the checkpoint")
    if _day_of(receipt_id) != signed.day:
        raise Refused("wrong-time", f"{receipt_id} is not of {signed.day}")
    index, path = record["leaf_index"], [bytes.fromhex(step) for step in record["audit_path"]]
    # Leaves are in the order of their ids, so the signed first and last ids determine the outermost leaves.
    is_at_end = (index == 0) == (receipt_id == signed.first_receipt_id) and (
        (index == signed.tree_size - 1) == (receipt_id == signed.last_receipt_id)
    )
    if not is_at_end or not verify_inclusion(leaf, index, signed.tree_size, path, bytes.fromhex(signed.root[7:])):
        raise Refused("not-included", f"the path does not lead from {receipt_id} to the root of {signed.day}")
    return VerifiedInclusion(signed, kid, index, attested)


def _read_inclusion(given: Document) -> dict[str, Any]:
    record = _read_object(given, 65_536)
    if record is None:
        raise Refused("malformed-inclusion", "the inclusion proof must be an object")
    if "status" in record and "audit_path" not in record:
        raise Refused("inclusion-pending", f"the day {record.get('day')!r} is not closed yet: ask for the proof later")
    for name, is_right in (
        ("receipt_id", is_receipt_id),
        ("day", is_day),
        ("leaf", _is_hex),
        ("leaf_index", is_count),
        ("tree_size", lambda value: is_count(value) and value >= 1),
        ("root", is_sha256),
        ("audit_path", lambda value: isinstance(value, list) and len(value) <= 53 and all(map(_is_hex, value))),
        ("checkpoint", lambda value: isinstance(value, str)),
        ("kid", lambda value: isinstance(value, str)),
    ):
        if name not in record:
            raise Refused("missing-member", f"/{name} is missing")
        if not is_right(record[name]):
            raise Refused("malformed-member", f"/{name} has not its form")
    return record


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _read_object(given: Any, most_chars: int) -> dict[str, Any] | None:
    if isinstance(given, (str, bytes)):
        try:
            given = parse_json(given) if len(given) <= most_chars else None
        except Refused:
            return None
    return dict(given) if isinstance(given, Mapping) else None


def _find_jws(given: Document, name: str, code: str) -> tuple[str, dict[str, Any] | None]:
    """The JWS in an object, in its text, or bare; and the object."""
    if isinstance(given, bytes):
        given = given.decode("utf-8", "replace")
    if isinstance(given, str):
        given = given.strip(_JSON_SPACE)
        if not given.startswith("{"):
            return given, None
    record = _read_object(given, 65_536)
    jws = None if record is None else record.get(name)
    if not isinstance(jws, str):
        raise Refused(code, f"the {name} must be the record of the service or the JWS in it")
    return jws, record


def _verify_attestation(given: Document, receipt_id: str, checkpoint: str, keys: ServiceKeys) -> Attestation:
    def refuse(problem: str) -> Refused:
        return Refused("wrong-attestation", f"the attestation {problem}")

    text, _ = _find_jws(given, "attestation", "wrong-attestation")
    try:
        jws = parse_jws(text, 4096)
        kid = exact_kid(jws, "svc-attestation+jwt")
        claims: Any = jws.payload
        _check_members(claims, Attestation.__annotations__)
    except Refused as problem:
        raise refuse(str(problem)) from None
    are_texts = isinstance(claims["iss"], str) and isinstance(claims["receipt_id"], str)
    if not are_texts or not is_sha256(claims["receipt_hash"]) or not is_sha256(claims["checkpoint_hash"]):
        raise refuse("must say what it is about")
    if not isinstance(claims["iat"], int) or isinstance(claims["iat"], bool):
        raise refuse("must say when it was made")
    untimely = keys.check("status", kid, jws, claims["iat"] * 1000)
    if untimely is not None:
        raise Refused("key-not-in-force", f"the attestation: {untimely}")
    attestation = Attestation(**claims)
    if (attestation.iss, attestation.receipt_id, attestation.checkpoint_hash) != (keys.did, receipt_id, sha256(checkpoint)):
        raise refuse("is of another service, Receipt or checkpoint")
    return attestation


@checked_but("receipt", "inclusion", "did_document", "checkpoint", "attestation")
def verify_included_receipt(
    receipt: Document,
    inclusion: Document,
    did_document: Document | ServiceKeys,
    *,
    checkpoint: Document | None = None,
    attestation: Document | None = None,
    service_did: str | None = None,
) -> tuple[VerifiedReceipt, VerifiedInclusion]:
    """Verifies both. With an attestation it also verifies a Receipt whose key was compromised or not in force."""
    keys = open_keys(did_document, service_did)
    signed = verify_signed(receipt, keys)
    receipt_id = signed.verified.receipt["receipt_id"]
    included = verify_receipt_inclusion(receipt_id, inclusion, keys, checkpoint=checkpoint, attestation=attestation)
    _check_doubt(signed, included.attestation)
    return signed.verified, included


def _check_doubt(signed: Signed, attestation: Attestation | None) -> None:
    """Accepts a Receipt's date within its key's time, or with an attestation to this exact Receipt."""
    if attestation is not None and attestation.receipt_hash == sha256(signed.verified.receipt["receipt"]):
        return
    if signed.untimely is not None:
        raise Refused("key-not-in-force", signed.untimely)
    if attestation is not None:
        raise Refused("wrong-attestation", "the attestation is of another Receipt")


# ---- Bundles


@checked_but("bundle", "did_document")
def verify_bundle(
    bundle: Document, did_document: Document | ServiceKeys, *, service_did: str | None = None
) -> VerifiedBundle:
    """Verifies a bundle, which is a Receipt with everything needed to verify it, with the service's pinned DID document.

    The document in the bundle is not trusted, because a file cannot authenticate itself.

    Raises:
        Refused: With the code of the first fault.
    """
    keys = open_keys(did_document, service_did)
    parts = _read_object(bundle, 16 * 1_048_576)
    if parts is None:
        raise Refused("malformed-bundle", "a bundle must be a JSON object")
    names = ("receipt", "inclusion", "checkpoint", "did_document", "evidence")
    if parts.get("status") == "pending" and not any(name in parts for name in names):
        raise Refused("inclusion-pending", f"the day {parts.get('day')!r} is not closed yet: ask for the bundle later")
    for name in names:
        if name not in parts:
            raise Refused("missing-member", f"/{name} is missing")
    signed = verify_signed(parts["receipt"], keys)
    evidence = _check_evidence(parts["evidence"], signed.verified.receipt)
    included = verify_receipt_inclusion(
        signed.verified.receipt["receipt_id"],
        parts["inclusion"],
        keys,
        # There None means no checkpoint, but a null in a bundle is a part without its JWS.
        checkpoint={} if parts["checkpoint"] is None else parts["checkpoint"],
        attestation={} if "attestation" in parts and parts["attestation"] is None else parts.get("attestation"),
    )
    _check_doubt(signed, included.attestation)
    return VerifiedBundle(signed.verified, included, evidence)


_MAX_EVIDENCE_ITEMS = 16


def _check_evidence(evidence: Any, receipt: Mapping[str, Any]) -> dict[str, str]:
    if not isinstance(evidence, list):
        raise Refused("malformed-member", "/evidence must be an array")
    if len(evidence) > _MAX_EVIDENCE_ITEMS:
        raise Refused("malformed-member", f"/evidence must have at most {_MAX_EVIDENCE_ITEMS} items")
    texts: dict[str, str] = {}
    hashes: set[str] = set()
    for i, item in enumerate(evidence):
        fields = [item.get(name) for name in ("hash", "content_type", "body")] if isinstance(item, dict) else [None]
        if not all(isinstance(field, str) for field in fields) or not is_sha256(fields[0]):
            raise Refused("malformed-member", f"/evidence/{i} must be an object with hash, content_type and body")
        digest, body = str(fields[0]), str(fields[2])
        data = body.encode("utf-8", "surrogatepass")
        if sha256(data) != digest:
            # Bytes that are not text are in base64url; the hash shows which of the two it is.
            decoded = base64url.decode(body)
            if decoded is None or sha256(decoded) != digest:
                raise Refused("wrong-evidence", f"/evidence/{i} has not the hash {digest}")
            data = decoded
        hashes.add(digest)
        try:
            texts[digest] = data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    named = receipt["evidence"]
    for member, name in (("issuer_resolution", "did_document_hash"), ("status", "credential_hash")):
        if member in named and named[member][name] not in hashes:
            raise Refused("missing-evidence", f"/receipt/evidence/{member}/{name} is not in the bundle")
    return texts
