"""An attestation vouches for a checkpoint that existed at its date; also tests the white space allowed around both."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from test_webhook import KEYS, SEEDS, STATUS_KEY

from svc_kit import Refused, Signer, VerifiedInclusion, verify_receipt_inclusion
from svc_kit.jws import sha256, sign_jws
from svc_kit.merkle import hash_leaf

DID = "did:web:svc.example"
RECEIPT_ID = "drc_01M7VZGC008Q2R7V9X1C4E6H8K"
SIGNER = Signer.from_seed(SEEDS[STATUS_KEY], f"{DID}#status-1")
CLOSED_AT = 1_795_219_201
"""2026-11-21T00:00:01Z, a second after the end of the status key."""
DOCUMENT = copy.deepcopy(KEYS["service_did_document"])
for _method in DOCUMENT["verificationMethod"]:
    if _method["id"] == SIGNER.kid:
        _method["svc:validUntil"] = "2026-11-21T00:00:00Z"

LEAF = hash_leaf(RECEIPT_ID.encode()).hex()
DAY: dict[str, Any] = {"day": "2026-11-20", "root": f"sha256:{LEAF}", "tree_size": 1}
CHECKPOINT = sign_jws(
    SIGNER,
    "svc-checkpoint+jwt",
    {
        **DAY,
        **{"first_receipt_id": RECEIPT_ID, "last_receipt_id": RECEIPT_ID, "previous_root": None},
        **{"iat": CLOSED_AT, "iss": DID, "tree": "rfc6962-sha256"},
    },
)
INCLUSION = {
    **DAY,
    **{"receipt_id": RECEIPT_ID, "leaf": LEAF, "leaf_index": 0, "audit_path": [], "checkpoint": CHECKPOINT, "kid": SIGNER.kid},
}


def include(attested_at: int | None, around: str = "", checkpoint: Any = None) -> VerifiedInclusion:
    claims = {"iss": DID, "receipt_id": RECEIPT_ID, "receipt_hash": sha256("x"), "checkpoint_hash": sha256(CHECKPOINT), "iat": attested_at}
    attestation = None if attested_at is None else f"{around}{sign_jws(SIGNER, 'svc-attestation+jwt', claims)}{around}"
    return verify_receipt_inclusion(RECEIPT_ID, INCLUSION, DOCUMENT, checkpoint=checkpoint, attestation=attestation)


def test_a_key_that_has_ended_vouches_for_no_later_checkpoint_whatever_date_it_gives_its_attestation() -> None:
    # The clocks of two nodes may differ by five minutes.
    assert include(CLOSED_AT - 300).checkpoint.day == "2026-11-20"
    for attested_at, code in ((None, "key-not-in-force"), (CLOSED_AT, "key-not-in-force"), (CLOSED_AT - 301, "wrong-attestation")):
        with pytest.raises(Refused) as refused:
            include(attested_at)
        assert refused.value.code == code, attested_at


@pytest.mark.parametrize("shown", [True, 2, "1", None])
def test_what_stands_beside_the_jws_of_a_checkpoint_is_what_was_signed_in_type_too(shown: Any) -> None:
    record = {**DAY, "checkpoint": CHECKPOINT}
    assert include(CLOSED_AT - 300, checkpoint=record).checkpoint.tree_size == 1
    with pytest.raises(Refused) as refused:
        include(CLOSED_AT - 300, checkpoint={**record, "tree_size": shown})
    assert refused.value.code == "payload-mismatch"


# All libraries accept the same white space here.
SHARED = json.loads((Path(__file__).parents[2] / "white-space.json").read_text())


@pytest.mark.parametrize("around", SHARED["taken"], ids=ascii)
def test_white_space_of_json_may_stand_around_a_jws(around: str) -> None:
    assert include(CLOSED_AT - 300, around, f"{around}{CHECKPOINT}{around}").kid == SIGNER.kid


@pytest.mark.parametrize("around", SHARED["refused"], ids=ascii)
def test_and_nothing_else_may(around: str) -> None:
    for of_attestation, checkpoint, code in (
        (around, None, "wrong-attestation"),
        ("", f"{around}{CHECKPOINT}", "other-checkpoint"),
        ("", f"{CHECKPOINT}{around}", "other-checkpoint"),
    ):
        with pytest.raises(Refused) as refused:
            include(CLOSED_AT - 300, of_attestation, checkpoint)
        assert refused.value.code == code
