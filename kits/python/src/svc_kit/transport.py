"""One call of the service within a deadline: what comes of it is a JSON object, or ``ServiceError``."""

from __future__ import annotations

import http.client
import json
import queue
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import Refused, ServiceError
from .strict_json import parse_json

_MAX_ANSWER_BYTES = 1_048_576
_MAX_MESSAGE_CHARACTERS = 500
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key along."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Request(urllib.request.Request):
    """Knows its sockets, so that another thread can end them."""

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
        """Whoever reads from or writes to a socket of this request stops."""
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


@dataclass(frozen=True)
class Transport:
    """Of one service and one key."""

    base_url: str
    api_key: str = field(repr=False)
    timeout_seconds: float = 5.0
    """Of a whole call: name look-up, connection, headers and body."""

    def __post_init__(self) -> None:
        url = urllib.parse.urlsplit(self.base_url)
        if url.scheme != "https" and not (url.scheme == "http" and url.hostname in _LOOPBACK):
            raise ValueError("base_url must be https, or http to this machine")
        if not 0 < self.timeout_seconds <= 600:
            raise ValueError("timeout_seconds must be more than 0, and 600 or less")

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """One call, once. What comes of it is JSON, or ``ServiceError``."""
        request = _Request(
            self.base_url.rstrip("/") + path,
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json", **headers},
            method="POST",
        )
        # A timeout of sockets begins anew with each byte, and there is none for the look-up of a name.
        outcomes: queue.SimpleQueue[dict[str, Any] | Exception] = queue.SimpleQueue()
        threading.Thread(target=lambda: outcomes.put(self._outcome(request)), daemon=True).start()
        try:
            outcome = outcomes.get(timeout=self.timeout_seconds)
        except queue.Empty:
            request.end()
            raise ServiceError(f"{self.base_url} did not answer within {self.timeout_seconds:g} s") from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _outcome(self, request: _Request) -> dict[str, Any] | Exception:
        try:
            with _OPENER.open(request, timeout=self.timeout_seconds) as answer:
                return _read(answer.read(_MAX_ANSWER_BYTES + 1))
        except urllib.error.HTTPError as problem:
            return _refusal(problem)
        except (OSError, http.client.HTTPException, Refused) as problem:
            told = str(problem)[:_MAX_MESSAGE_CHARACTERS] or type(problem).__name__
            return ServiceError(f"no usable answer of {self.base_url}: {told}")
        except Exception as problem:  # noqa: BLE001  such as a key that no header may hold
            return problem


def _read(data: bytes) -> dict[str, Any]:
    if len(data) > _MAX_ANSWER_BYTES:
        raise Refused("malformed-json", f"the answer is longer than {_MAX_ANSWER_BYTES} bytes")
    value = parse_json(data)
    if not isinstance(value, dict):
        raise Refused("malformed-json", "the answer is no JSON object")
    return value


def _refusal(problem: urllib.error.HTTPError) -> ServiceError:
    try:
        with problem:
            body = _read(problem.read(_MAX_ANSWER_BYTES + 1))
    except (OSError, http.client.HTTPException, Refused):
        body = {}
    message = str(body.get("message", problem.reason))[:_MAX_MESSAGE_CHARACTERS]
    return ServiceError(f"{problem.code}: {message}", problem.code, str(body.get("error", ""))[:_MAX_MESSAGE_CHARACTERS])
