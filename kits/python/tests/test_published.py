"""A Receipt names exactly the checks of its profile."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from svc_kit import Refused, receipt
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


@pytest.mark.parametrize("left_out", ["P2", "P5", "P6", "T2"])
def test_profile_without_a_check(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a profile leaves a check out, what the check would have found is not there, and nothing fails to be read."""
    checks = tuple(
        replace(check, requires=tuple(name for name in check.requires if name != left_out))
        for check in V1.checks
        if check.id != left_out
    )
    monkeypatch.setitem(PROFILES, "svc-base-v1", replace(V1, checks=checks))
    monkeypatch.setattr(receipt, "_BODY", lambda body, at: None)
    body = json.loads((VECTORS / "evaluate" / "allow-purchase.json").read_text())["expected"]["body"]
    group = "protocol" if left_out.startswith("P") else "trust"
    del body[group]["checks"][left_out]
    if left_out in ("P2", "P6"):
        del body["evidence"][{"P2": "issuer_resolution", "P6": "status"}[left_out]]
        check_body(body)
        return
    with pytest.raises(Refused, match=f"contradict.*{left_out}|{left_out} contradicts"):
        check_body(body)


def test_missing_in_order() -> None:
    vector = json.loads((VECTORS / "evaluate" / "allow-purchase.json").read_text())
    body = vector["expected"]["body"]
    for group, first in (("trust", "T1"), ("protocol", "P1")):
        body[group]["checks"] = {}
        with pytest.raises(Refused, match=f"^missing-member: /{group}/checks/{first} is missing$"):
            check_body(body)
