"""A Receipt names exactly the checks of its profile."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from svc_kit import Refused
from svc_kit.published import PROFILES, Check
from svc_kit.receipt import _check_named, check_body

V1 = PROFILES["svc-base-v1"]
MORE = replace(V1, checks=(*V1.checks, Check("P21", ("P3",), ("GRANT_EXPIRED",), looks_up=False)))
BODY = {"protocol": {"profile": "svc-base-v1"}}
VECTORS = Path(__file__).parents[3] / "vectors"


def test_named_exactly() -> None:
    outcomes = {check.id: True for check in V1.checks}
    _check_named(BODY, outcomes, V1)
    _check_named(BODY, {**outcomes, "P21": True}, MORE)
    with pytest.raises(Refused) as refused:
        _check_named(BODY, {**outcomes, "P21": True}, V1)
    assert refused.value.code == "unknown-member"
    with pytest.raises(Refused) as refused:
        _check_named(BODY, outcomes, MORE)
    assert refused.value.code == "missing-member"


def test_missing_in_order() -> None:
    vector = json.loads((VECTORS / "evaluate" / "allow-purchase.json").read_text())
    body = vector["expected"]["body"]
    for group, first in (("trust", "T1"), ("protocol", "P1")):
        body[group]["checks"] = {}
        with pytest.raises(Refused, match=f"^missing-member: /{group}/checks/{first} is missing$"):
            check_body(body)
