"""A Principal, an Agent and a relying party, against a service; the ids and keys are in the environment."""

import json
import os
import urllib.request

from svc_kit import Agent, Principal, RelyingParty, Signer, parse_grant, purchase, sign_proof

env = os.environ
service, shop_did = env["SVC_URL"], env["SHOP_DID"]
with urllib.request.urlopen(f"{service}/.well-known/did.json", timeout=5) as answer:
    did_document = answer.read()  # pin it, and hold its id against what the operator says

# A Principal lets an Agent spend up to 500.00 USD on any order of this shop.
signer = Signer.from_seed(bytes.fromhex(env["PRINCIPAL_SEED"]), f"{env['PRINCIPAL_DID']}#key-1")
principal = Principal(service, env["SVC_PRINCIPAL_KEY"], signer)
agent = Agent.from_seed(os.urandom(32))
grant = principal.issue(agent.did, [purchase(50_000, "USD", ["order/*"])], audience=[shop_did])
grant_id = parse_grant(grant).id

# The Agent signs a Proof for one request to one relying party.
method, url = "POST", "https://shop.example/checkout"
action = {"type": "commerce:purchase", "resource": "order/7", "amount": 42_700, "currency": "USD"}
proof = sign_proof(agent, grant_id=grant_id, audience=shop_did, method=method, url=url, action=action)

# The relying party asks. What it is told has been checked: the Receipt, and that it is about this request.
shop = RelyingParty(service, env["SVC_RP_KEY"], did_document, relying_party=shop_did)
decisions = [shop.verify(grant, proof, action, method=method, url=url) for _ in range(2)]

principal.revoke(grant_id)  # from here on: DENY
fresh = sign_proof(agent, grant_id=grant_id, audience=shop_did, method=method, url=url, action=action)
decisions.append(shop.verify(grant, fresh, action, method=method, url=url))
print(json.dumps([[decision.allowed, decision.reason] for decision in decisions]))
# [[true, null], [false, "PROOF_REPLAYED"], [false, "AUTHORITY_REVOKED"]]
