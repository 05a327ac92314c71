"""A Receipt names exactly the checks of its profile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from svc_kit import Refused
from svc_kit.published import PROFILES, Check
from svc_kit.receipt import _check_named

V1 = PROFILES["svc-base-v1"]
MORE = replace(V1, checks=(*V1.checks, Check("P21", ("P3",), ("GRANT_EXPIRED",), looks_up=False)))
BODY = {"protocol": {"profile": "svc-base-v1"}}


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
