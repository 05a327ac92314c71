"""Evidence in a bundle is the text, or its bytes in the only valid spelling of base64url."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from svc_kit import Refused, base64url, verify_bundle
from svc_kit.jws import sha256

EXAMPLE = Path(__file__).parents[3] / "examples" / "bundle"
BUNDLE: dict[str, Any] = json.loads((EXAMPLE / "bundle.json").read_text())
DOCUMENT = (EXAMPLE / "did.json").read_text()
BODIES = [item["body"] for item in BUNDLE["evidence"]]


def with_body(at: int, body: str) -> dict[str, Any]:
    bundle = copy.deepcopy(BUNDLE)
    bundle["evidence"][at]["body"] = body
    return bundle


def test_evidence_may_be_in_base64url() -> None:
    for at, body in enumerate(BODIES):
        verified = verify_bundle(with_body(at, base64url.encode(body.encode())), DOCUMENT)
        assert verified.evidence[BUNDLE["evidence"][at]["hash"]] == body


@pytest.mark.parametrize("added", ["\n", "\r\n", "=", " ", "!", ".AAAA"], ids=ascii)
def test_but_not_in_another_spelling_of_it(added: str) -> None:
    for at, body in enumerate(BODIES):
        with pytest.raises(Refused) as refused:
            verify_bundle(with_body(at, base64url.encode(body.encode()) + added), DOCUMENT)
        assert refused.value.code == "wrong-evidence"


@pytest.mark.parametrize("body", ["!", "\n", "=", "A"], ids=ascii)
def test_what_cannot_be_decoded_is_not_taken_for_no_bytes(body: str) -> None:
    item = {"hash": sha256(b""), "content_type": "", "body": body}
    with pytest.raises(Refused) as refused:
        verify_bundle({**BUNDLE, "evidence": [*BUNDLE["evidence"], item]}, DOCUMENT)
    assert refused.value.code == "wrong-evidence"


def test_more_than_16_items_are_refused() -> None:
    filled = [*BUNDLE["evidence"], *[BUNDLE["evidence"][0]] * (16 - len(BODIES))]
    verify_bundle({**BUNDLE, "evidence": filled}, DOCUMENT)
    with pytest.raises(Refused) as refused:
        verify_bundle({**BUNDLE, "evidence": [*filled, filled[0]]}, DOCUMENT)
    assert refused.value.code == "malformed-member"
