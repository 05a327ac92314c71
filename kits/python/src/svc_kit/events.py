"""Subscriptions to events (protocol §15) of the subject of the key: a relying party, a Principal or an org."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from .arguments import checked
from .errors import InvalidArgument, ServiceError
from .transport import Transport

_SUBSCRIPTION_ID = re.compile(r"whs_[0-9A-HJKMNP-TV-Z]{26}")


@dataclass(frozen=True)
class Secret:
    """Number of a secret, and until when it signs events; None: until it is rotated. The secret itself is shown only when made."""

    number: int
    ends_at: str | None


@dataclass(frozen=True)
class Subscription:
    """Which events of a subject are sent to which endpoint. Times are RFC 3339, UTC."""

    subscription_id: str
    url: str
    description: str | None
    types: tuple[str, ...]
    budget_low_percent: int
    created_at: str
    created_by: str | None
    state: str
    """``active``, ``failing`` or ``disabled``."""
    failing_since: str | None
    last_problem: str | None
    disabled_at: str | None
    disabled_because: str | None
    """``owner``, ``failing`` (for five days) or ``gone`` (it answered 410)."""
    waiting: int
    """Number of open deliveries."""
    secrets: tuple[Secret, ...]


@dataclass(frozen=True)
class CreatedSubscription:
    """A new subscription. ``secret`` is returned only here."""

    subscription: Subscription
    secret: str = field(repr=False)


@dataclass(frozen=True)
class RotatedSecret:
    """A new secret. Events are signed with both secrets until ``previous_ends_at``."""

    secret: str = field(repr=False)
    previous_ends_at: str


@dataclass(frozen=True)
class Delivery:
    """The delivery of one event to the endpoint."""

    event_id: str
    type: str
    state: str
    """``waiting``, ``delivered`` or ``failed`` (not repeated, unless it is replayed)."""
    attempts: int
    last_attempt_at: str | None
    last_status: int | None
    last_problem: str | None
    next_attempt_at: str | None


class EventSubscriptions:
    """Subscriptions of the key's subject. A subscription that the key may not see is a ``ServiceError`` with status 404."""

    def __init__(self, base_url: str, api_key: str, *, timeout_seconds: float = 5.0) -> None:
        self._transport = Transport(base_url, api_key, timeout_seconds)

    @checked
    def create(
        self, url: str, types: Sequence[str], *, description: str | None = None, budget_low_percent: int | None = None
    ) -> CreatedSubscription:
        """Subscribes an https endpoint to events from now on. Never repeated after a lost answer: check with ``list`` first.

        Args:
            types: Types of events, such as ``decision.deny`` and ``grant.revoked``.
        """
        given = {"url": url, "types": list(types), "description": description, "budget_low_percent": budget_low_percent}
        body = {name: value for name, value in given.items() if value is not None}
        answer = self._transport.post("/event-subscriptions", body, is_once_only=True)
        return CreatedSubscription(_subscription(answer), _text(answer, "secret"))

    def list(self) -> list[Subscription]:
        """All subscriptions, newest first."""
        return [_subscription(one) for one in _objects(self._transport.get("/event-subscriptions"), "subscriptions")]

    @checked
    def test(self, subscription_id: str) -> str:
        """Sends an event of type ``ping`` and returns its id."""
        return _text(self._do(subscription_id, "test", is_once_only=True), "event_id")

    @checked
    def rotate(self, subscription_id: str) -> RotatedSecret:
        """Makes a new secret. A further rotation ends the oldest one at once, so this is not repeated after a lost answer."""
        answer = self._do(subscription_id, "rotate", is_once_only=True)
        return RotatedSecret(_text(answer, "secret"), _text(answer, "previous_ends_at"))

    @checked
    def disable(self, subscription_id: str) -> Subscription:
        """Stops sending; the service keeps events for 30 days."""
        return _subscription(self._do(subscription_id, "disable"))

    @checked
    def enable(self, subscription_id: str) -> Subscription:
        """Resumes at the event where the subscription was disabled."""
        return _subscription(self._do(subscription_id, "enable"))

    @checked
    def delete(self, subscription_id: str) -> None:
        """Deletes the subscription with its deliveries and secrets, for good."""
        if self._do(subscription_id, "delete").get("deleted") is not True:
            raise ServiceError("the answer does not say that it was deleted")

    @checked
    def replay(self, subscription_id: str, *, since: str | None = None, event_id: str | None = None) -> Subscription:
        """Sends events again, in order and with the same ids, from a time (RFC 3339) or an event on; at most 30 days back."""
        if (since is None) == (event_id is None):
            raise InvalidArgument("give since or event_id, not both")
        return _subscription(self._do(subscription_id, "replay", {"since": since} if event_id is None else {"event_id": event_id}))

    @checked
    def deliveries(self, subscription_id: str, *, limit: int | None = None) -> Iterator[Delivery]:
        """Deliveries, newest first. Pages of ``limit`` are fetched as they are consumed."""
        path, cursor, seen = _path(subscription_id, "deliveries"), None, set[str]()
        while True:
            answer = self._transport.get(path, {"limit": limit, "cursor": cursor})
            for one in _objects(answer, "deliveries"):
                yield _read(Delivery, one)
            cursor = answer.get("next_cursor")
            if cursor is None:
                return
            if not isinstance(cursor, str) or cursor in seen:
                raise ServiceError("the list leads back into itself")
            seen.add(cursor)

    def _do(self, subscription_id: str, what: str, body: dict[str, Any] | None = None, *, is_once_only: bool = False) -> dict[str, Any]:
        answer = self._transport.post(_path(subscription_id, what), body, is_once_only=is_once_only)
        if answer.get("subscription_id") != subscription_id:
            raise ServiceError("the service answered about another subscription")
        return answer


def _path(subscription_id: str, what: str) -> str:
    if _SUBSCRIPTION_ID.fullmatch(subscription_id) is None:
        raise InvalidArgument("subscription_id must be whs_ and 26 characters")
    return f"/event-subscriptions/{subscription_id}/{what}"


_Record = TypeVar("_Record")
_FORMS: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "str | None": (str, type(None)), "int | None": (int, type(None))}


def _read(record: type[_Record], value: dict[str, Any], **given: Any) -> _Record:
    """Reads a record. A value that the interface does not allow is a bad response; unknown members are ignored."""
    members = dict(given)
    for one in fields(record):
        if one.name in members:
            continue
        member = value.get(one.name, ...)
        if not isinstance(member, _FORMS[str(one.type)]) or isinstance(member, bool):
            raise ServiceError(f"{one.name} of the answer has not its form")
        members[one.name] = member
    return record(**members)


def _subscription(value: dict[str, Any]) -> Subscription:
    types = value.get("types")
    if not isinstance(types, list) or not all(isinstance(one, str) for one in types):
        raise ServiceError("types of the answer has not its form")
    secrets = tuple(_read(Secret, one) for one in _objects(value, "secrets"))
    return _read(Subscription, value, types=tuple(types), secrets=secrets)


def _objects(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = value.get(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ServiceError(f"{name} of the answer has not its form")
    return found


def _text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise ServiceError(f"{name} of the answer has not its form")
    return found
