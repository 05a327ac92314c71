"""Run by ``npm run kits`` with the Python into which a built wheel was installed: it is complete, typed, and works."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import svc_kit

HERE = Path(__file__).parent
installed = Path(svc_kit.__file__).parent
assert installed.is_relative_to(sys.prefix), f"imported from {installed}, which is not what was installed"

names = {path.name for path in (HERE.parent / "src" / "svc_kit").iterdir() if path.is_file()}
missing = names - {path.name for path in installed.iterdir()}
assert "py.typed" in names and not missing, f"the wheel lacks {sorted(missing)}"
for name in sorted(names):
    if name.endswith(".py"):
        importlib.import_module(f"svc_kit.{name.removesuffix('.py')}")

example = HERE.parents[2] / "examples" / "bundle"
verified = svc_kit.verify_bundle((example / "bundle.json").read_bytes(), (example / "did.json").read_text())
assert verified.receipt.decision == "ALLOW"

vectors = json.loads((HERE.parents[2] / "vectors" / "htu.json").read_text())["cases"]
assert vectors and all(svc_kit.normalize_htu(case["input"]) == case["expected"] for case in vectors)

agent = svc_kit.Agent.from_seed(bytes(32))
action = {"type": "api:call", "method": "GET", "resource": "https://shop.example/a"}
grant_id = "urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJT"
proof = svc_kit.sign_proof(
    agent, grant_id=grant_id, audience="did:web:shop.example", method="GET", url="https://shop.example/a", action=action
)
assert svc_kit.parse_proof(proof).is_signed
print(f"the wheel has all {len(names)} files, signs a Proof and verifies a bundle and {len(vectors)} vectors")
