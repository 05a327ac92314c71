"""Registers a shop and a Principal with the operator's token; prints the environment of the other examples for a shell.
"""

import json
import os
import secrets
import shlex
import urllib.request
from typing import Any

from svc_kit import Agent

service, token = os.environ["SVC_URL"], os.environ["SVC_ADMIN_TOKEN"]


def register(path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(service + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


name, seed = f"kit-{secrets.token_hex(4)}", os.urandom(32)
public_key = Agent.from_seed(seed).did.removeprefix("did:key:")  # of an Ed25519 key, whosever it is
shop = register("/relying-parties", {"kind": "managed", "slug": name})
acme = register("/principals", {"kind": "managed", "slug": name, "keys": [{"publicKeyMultibase": public_key}]})
for variable, value in {
    "SHOP_DID": shop["did"],
    "SVC_RP_KEY": shop["api_key"],
    "PRINCIPAL_DID": acme["did"],
    "SVC_PRINCIPAL_KEY": acme["api_key"],
    "PRINCIPAL_SEED": seed.hex(),
}.items():
    print(f"export {variable}={shlex.quote(value)}")
