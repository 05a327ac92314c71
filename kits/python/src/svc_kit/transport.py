"""Calls of the service, each within a deadline. The result is a JSON object or a ``ServiceError``.

Unless a call says otherwise, it can be repeated without harm. So it is repeated within the deadline after a lost
connection, 429, 503, or a gateway's answer in place of the service's (any 5xx except 503 and ``INTERNAL``), as
``Retry-After`` says.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import queue
import random
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .arguments import check_values
from .errors import InvalidArgument, Kind, Refused, ServiceError
from .strict_json import parse_json

_MAX_ANSWER_BYTES = 1_048_576
_MAX_MESSAGE_CHARACTERS = 500
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_MAX_BACKOFF_SECONDS = 2.0
_URL = re.compile(r"https?://[\x21-\x7e]+")
_MAX_RETRY_AFTER_SECONDS = 999_999_999.0
_HELP = re.compile(
    r"""<(https?://[\x21\x23-\x3b\x3d\x3f-\x7e]{1,512})>[ \t]*;[ \t]*rel="?help"?(?:[;, \t]|\Z)""", re.IGNORECASE | re.ASCII
)
_API_KEY = re.compile(r"[\x21-\x7e]{1,512}")
_OWN_5XX = ((500, "INTERNAL"), (501, "NOT_IMPLEMENTED"))
"""The service's own 5xx besides 503. Only the service in memory (``@svc/testing``) answers 501."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Request(urllib.request.Request):
    """Stores its sockets, so that another thread can shut them down."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._is_over = False

    def connection(self, of: Callable[..., http.client.HTTPConnection]) -> Callable[..., http.client.HTTPConnection]:
        def create(*arguments: Any, **named: Any) -> http.client.HTTPConnection:
            made = of(*arguments, **named)
            connect = made.connect

            def connect_known() -> None:
                connect()
                self._keep(made.sock)

            setattr(made, "connect", connect_known)
            return made

        return create

    def _keep(self, opened: socket.socket) -> None:
        with self._lock:
            self._sockets.append(opened)
            is_over = self._is_over
        if is_over:
            self.end()

    def end(self) -> None:
        """Stops everything that reads from or writes to a socket of this request."""
        with self._lock:
            self._is_over = True
            for one in self._sockets:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:  # it is closed already
                    pass


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: Any) -> Any:
        return self.do_open(request.connection(http.client.HTTPConnection), request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: Any) -> Any:
        return self.do_open(request.connection(http.client.HTTPSConnection), request)


_OPENER = urllib.request.build_opener(_NoRedirect, _Http, _Https)
# A proxy from the environment could read the key in plain http. Under https it sees only a tunnel.
_DIRECT = urllib.request.build_opener(_NoRedirect, _Http, urllib.request.ProxyHandler({}))


class _Repeats:
    """Limits the repeats after 429 or 503, for all calls together: 10 a second and 0.2 for each call, at most 100 in
    reserve. Without a limit, repeats could triple the load of a service that is already overloaded.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left, self._at = 100.0, time.monotonic()

    def count_call(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._left, self._at = min(100.0, self._left + 0.2 + 10 * (now - self._at)), now

    def take(self) -> bool:
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            return True


@dataclass(frozen=True)
class _Failure:
    error: ServiceError
    can_repeat: bool
    is_lost: bool
    """The service may have acted on the request although no answer says so."""


def _failure(kind: Kind, message: str, *, can_repeat: bool = False, is_lost: bool = False) -> _Failure:
    return _Failure(ServiceError(message[:_MAX_MESSAGE_CHARACTERS], kind=kind), can_repeat, is_lost)


@dataclass(frozen=True)
class Transport:
    """Calls one service with one key."""

    base_url: str
    api_key: str = field(repr=False)
    timeout_seconds: float = 5.0
    """For a whole call, repeats included: name look-up, connection, headers and body."""
    _repeats: _Repeats = field(default_factory=_Repeats, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = {"base_url": self.base_url, "api_key": self.api_key}
        check_values(given, dict.fromkeys(given, str))
        url = _split(self.base_url)
        if url.scheme != "https" and not (url.scheme == "http" and url.hostname in _LOOPBACK):
            raise InvalidArgument("base_url must be https, or http to this machine")
        if url.username is not None or "?" in self.base_url or "#" in self.base_url:
            raise InvalidArgument("base_url must have no user info, query or fragment")
        if _API_KEY.fullmatch(self.api_key) is None:
            raise InvalidArgument("the API key must be visible ASCII, 1 to 512 characters")
        check_timeout(self.timeout_seconds)

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A call that changes nothing. Members of the query that are None are left out."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        search = f"?{urllib.parse.urlencode(given)}" if given else ""
        return self._call("GET", path + search, None, {}, is_once_only=False, timeout_seconds=self.timeout_seconds)

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None = None,
        *,
        is_once_only: bool = False,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """
        Args:
            is_once_only: A second call would have its effect twice; it is repeated only if the first certainly had none.
        """
        timeout = self.timeout_seconds if timeout_seconds is None else timeout_seconds
        check_timeout(timeout)
        return self._call("POST", path, body, headers or {}, is_once_only=is_once_only, timeout_seconds=timeout)

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        *,
        is_once_only: bool,
        timeout_seconds: float,
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        type_of_body = {} if data is None else {"Content-Type": "application/json"}
        sent = {"Accept": "application/json", "Authorization": f"Bearer {self.api_key}", **type_of_body, **headers}
        ends = time.monotonic() + timeout_seconds
        is_lost, was_503, attempt = False, False, 0
        self._repeats.count_call()
        while True:
            attempt += 1
            request = _Request(self.base_url.rstrip("/") + path, data=data, headers=sent, method=method)
            outcome = self._attempt(request, ends - time.monotonic(), timeout_seconds)
            if not isinstance(outcome, _Failure):
                return outcome
            error = outcome.error
            is_503 = error.status == 503
            is_lost, was_503 = is_lost or outcome.is_lost, was_503 or is_503
            spread = random.random() * min(_MAX_BACKOFF_SECONDS, 0.1 * 2.0 ** (attempt - 1))
            delay = (error.retry_after_seconds or 0.0) + spread
            # A 503 may stand for a commit whose outcome the service itself does not know.
            may_repeat = outcome.can_repeat and not (is_once_only and (outcome.is_lost or is_503))
            is_in_time = delay < ends - time.monotonic()
            if not may_repeat or not is_in_time or (error.status in (429, 503) and not self._repeats.take()):
                raise _final(error, method != "GET" and (is_lost or (was_503 and not is_503)))
            time.sleep(delay)

    def _attempt(self, request: _Request, seconds: float, of_call: float) -> dict[str, Any] | _Failure:
        # A timeout of a socket begins again with each byte, and the look-up of a name has no timeout.
        outcomes: queue.SimpleQueue[dict[str, Any] | _Failure | Exception] = queue.SimpleQueue()
        threading.Thread(target=lambda: outcomes.put(self._outcome(request, seconds)), daemon=True).start()
        try:
            outcome = outcomes.get(timeout=max(0.0, seconds))
        except queue.Empty:
            request.end()
            return _failure("timeout", f"{self.base_url} did not answer within {of_call:g} s", is_lost=True)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _outcome(self, request: _Request, seconds: float) -> dict[str, Any] | _Failure | Exception:
        try:
            opener = _OPENER if request.type == "https" else _DIRECT
            with opener.open(request, timeout=max(0.001, seconds)) as answer:
                if answer.status not in (200, 201, 202):
                    raise Refused("malformed-answer", f"an unexpected status {answer.status}")
                return _read(_body(answer))
        except urllib.error.HTTPError as problem:
            return _refusal(problem)
        except Refused as problem:
            return _failure("bad-response", f"no usable answer of {self.base_url}: {problem}")
        except (OSError, http.client.HTTPException) as problem:
            reason = getattr(problem, "reason", problem)
            told = f"no usable answer of {self.base_url}: {problem or type(problem).__name__}"
            return _failure("network", told, can_repeat=True, is_lost=not isinstance(reason, (ConnectionRefusedError, socket.gaierror)))
        except Exception as problem:  # noqa: BLE001  such as an invalid address
            return problem


def _split(base_url: str) -> urllib.parse.SplitResult:
    try:
        url = urllib.parse.urlsplit(base_url)
        is_address = _URL.fullmatch(base_url) is not None and url.hostname is not None and url.port != 0
    except ValueError:  # such as an invalid port
        is_address = False
    if not is_address:
        raise InvalidArgument("base_url must be an absolute URL in visible ASCII")
    return url


def check_timeout(seconds: float) -> None:
    check_values({"timeout_seconds": seconds}, {"timeout_seconds": float})
    if not 0 < seconds <= 600:
        raise InvalidArgument("timeout_seconds must be more than 0, and 600 or less")


def _final(error: ServiceError, is_unknown: bool) -> ServiceError:
    """A definite refusal of one attempt says nothing about an earlier attempt whose answer was lost or was a 503."""
    if not is_unknown or error.kind == "bad-response":
        return error
    return ServiceError(
        f"the answer was lost or tells of a fault, so whether the call took effect is unknown ({error})",
        error.status,
        error.code,
        kind="outcome-unknown",
        retry_after_seconds=error.retry_after_seconds,
        request_id=error.request_id,
    )


def _body(answer: http.client.HTTPResponse) -> bytes:
    """At most what ``_read`` accepts. ``read`` with a size does not detect a body that ends before its Content-Length."""
    data = answer.read(_MAX_ANSWER_BYTES + 1)
    if answer.length and len(data) <= _MAX_ANSWER_BYTES:
        raise http.client.IncompleteRead(data, answer.length)
    return data


def _read(data: bytes) -> dict[str, Any]:
    if len(data) > _MAX_ANSWER_BYTES:
        raise Refused("malformed-json", f"the answer is longer than {_MAX_ANSWER_BYTES} bytes")
    value = parse_json(data)
    if not isinstance(value, dict):
        raise Refused("malformed-json", "the answer is no JSON object")
    return value


def _refusal(problem: urllib.error.HTTPError) -> _Failure:
    try:
        with problem:
            body = _read(problem.read(_MAX_ANSWER_BYTES + 1))
    except (OSError, http.client.HTTPException, Refused):
        body = {}
    message = str(body.get("message", problem.reason))[:_MAX_MESSAGE_CHARACTERS]
    error = ServiceError(
        f"{problem.code}: {message}",
        problem.code,
        str(body.get("error", ""))[:_MAX_MESSAGE_CHARACTERS],
        kind="refused" if problem.code >= 400 else "bad-response",
        retry_after_seconds=_retry_after(problem.headers.get("retry-after")),
        request_id=problem.headers.get("svc-request-id"),
        help_url=_help_url(problem.headers.get_all("link", [])),
    )
    is_gateway = _is_of_gateway(problem.code, error.code)
    return _Failure(error, is_gateway or problem.code in (429, 503), is_gateway or error.code == "INTERNAL")


def _is_of_gateway(status: int, code: str | None) -> bool:
    """Whether a gateway answered, such as with 520 or 524. The gateway may have forwarded the request."""
    return status >= 500 and status != 503 and (status, code) not in _OWN_5XX


def _help_url(links: list[str]) -> str | None:
    """The target of the link with ``rel="help"`` (RFC 8288), if a person can open it in a browser."""
    found = _HELP.search(", ".join(links))
    return None if found is None else found[1]


def _retry_after(value: str | None) -> float | None:
    """RFC 9110 §10.2.3: seconds, or a date."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        return min(max(0.0, seconds), _MAX_RETRY_AFTER_SECONDS)
    except (TypeError, ValueError, OverflowError):
        return None
