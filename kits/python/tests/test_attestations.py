"""An attestation vouches for a checkpoint that there was by its date."""

from __future__ import annotations

import copy
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


def include(attested_at: int | None) -> VerifiedInclusion:
    claims = {"iss": DID, "receipt_id": RECEIPT_ID, "receipt_hash": sha256("x"), "checkpoint_hash": sha256(CHECKPOINT), "iat": attested_at}
    attestation = None if attested_at is None else sign_jws(SIGNER, "svc-attestation+jwt", claims)
    return verify_receipt_inclusion(RECEIPT_ID, INCLUSION, DOCUMENT, attestation=attestation)


def test_a_key_that_has_ended_vouches_for_no_later_checkpoint_whatever_date_it_gives_its_attestation() -> None:
    # The clocks of two nodes may differ by five minutes.
    assert include(CLOSED_AT - 300).checkpoint.day == "2026-11-20"
    for attested_at, code in ((None, "key-not-in-force"), (CLOSED_AT, "key-not-in-force"), (CLOSED_AT - 301, "wrong-attestation")):
        with pytest.raises(Refused) as refused:
            include(attested_at)
        assert refused.value.code == code, attested_at
