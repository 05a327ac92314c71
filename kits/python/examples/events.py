"""Subscribes an endpoint, looks after the subscription, and deletes it again; the address and a key are in the environment."""

import json
import os

from svc_kit import EventSubscriptions, ServiceError

events = EventSubscriptions(os.environ["SVC_URL"], os.environ["SVC_RP_KEY"])
made = events.create("https://shop.example/hooks/svc", ["decision.deny", "grant.revoked"])
subscription_id = made.subscription.subscription_id
said: list[object] = [made.subscription.state, len(made.secret)]  # keep the secret: verify_webhook takes it

pinged = events.test(subscription_id)
rotated = events.rotate(subscription_id)  # until previous_ends_at both are good
(listed,) = events.list()
said += [len(listed.secrets), listed.secrets[1].ends_at == rotated.previous_ends_at]
said += [(one.type, one.event_id == pinged) for one in events.deliveries(subscription_id)]  # the ping, a moment later

disabled, enabled = events.disable(subscription_id), events.enable(subscription_id)
said += [disabled.state, disabled.disabled_because, enabled.state]
events.replay(subscription_id, since=made.subscription.created_at)
events.delete(subscription_id)
try:
    events.test(subscription_id)
except ServiceError as problem:
    said.append((problem.kind, problem.status))
print(json.dumps(said))
