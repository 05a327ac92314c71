"""Against servers that misbehave, over real sockets: every call ends, and every failure is a ``ServiceError``."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from svc_kit import InvalidArgument, ServiceError
from svc_kit.transport import Transport

GOOD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
Server = Callable[[socket.socket], None]


@contextmanager
def serving(server: Server) -> Iterator[tuple[str, threading.Thread]]:
    """One connection, after its request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                request = b""
                while not request.endswith(b"}"):
                    request += connection.recv(65_536)
                server(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", thread
        thread.join(timeout=30)
        assert not thread.is_alive()


def post(url: str, timeout_seconds: float = 10.0) -> dict[str, object]:
    return Transport(url, "dk_secret", timeout_seconds).post("/verify", {"a": 1}, {})


def answering(answer: bytes) -> Server:
    def server(connection: socket.socket) -> None:
        try:
            connection.sendall(answer)
        except OSError:  # more than the client reads
            pass

    return server


def test_an_answer_is_read() -> None:
    with serving(answering(GOOD)) as (url, _):
        assert post(url) == {}


@pytest.mark.parametrize("at", ["headers", "body"])
def test_a_server_that_drips_its_answer_is_left_at_the_deadline_and_its_connection_ended(at: str) -> None:
    head, body = GOOD.split(b"\r\n\r\n")
    if at == "headers":
        begun, rest = head, b"\r\nX-Slow: " + b"x" * 200 + b"\r\n\r\n" + body
    else:
        begun, rest = head.replace(b"Length: 2", b"Length: 202") + b"\r\n\r\n", b" " * 200 + body
    was_left = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(begun)
        connection.settimeout(0.05)
        for byte in rest:
            try:
                connection.sendall(bytes([byte]))
                # The client sends nothing more, so the end of its stream means that it has closed the connection.
                if connection.recv(1) == b"":
                    was_left.set()
                    return
            except TimeoutError:
                continue
            except OSError:
                was_left.set()
                return

    with serving(drip) as (url, thread):
        with pytest.raises(ServiceError, match=r"did not answer within 0\.3 s"):
            post(url, 0.3)
        thread.join(timeout=30)
    assert was_left.is_set()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"no HTTP\r\n\r\n", id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n{}", id="a line without end"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 200 + b"\r\n{}", id="headers without end"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{", id="a chunk cut short"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="a chunk without a length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", id="a body cut short"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n[]", id="no object"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n{" + b" " * 2_000_000 + b"}", id="a body without bound"),
        pytest.param(b"HTTP/1.1 203 Changed\r\nContent-Length: 2\r\n\r\n{}", id="what a proxy made of it"),
        pytest.param(b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="an error that is cut short"),
        pytest.param(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", id="a redirect"),
    ],
)
def test_what_is_no_answer_is_a_service_error(answer: bytes) -> None:
    with serving(answering(answer)) as (url, _), pytest.raises(ServiceError):
        post(url, 1.0)


def test_of_an_error_status_code_and_a_bounded_message_are_told_and_not_the_key() -> None:
    body = b'{"error":"invalid_request","message":"' + b"m" * 5_000 + b'"}'
    head = f"HTTP/1.1 400 Bad\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with serving(answering(head + body)) as (url, _), pytest.raises(ServiceError) as raised:
        post(url)
    assert (raised.value.kind, raised.value.status, raised.value.code) == ("refused", 400, "invalid_request")
    assert 500 < len(str(raised.value)) < 600 and "dk_secret" not in repr(raised.value)


def test_a_service_that_is_not_there_is_a_service_error() -> None:
    with socket.socket() as nobody:
        # A port on which no server listens, and which no other process can get meanwhile.
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(ServiceError, match="no usable answer") as raised:
            post(f"http://127.0.0.1:{nobody.getsockname()[1]}")
    # No server was there, so nothing can have happened.
    assert raised.value.kind == "network"


def test_a_proxy_of_the_environment_is_not_shown_the_key_in_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with serving(answering(GOOD)) as (url, _):
        assert post(url) == {}


@pytest.mark.parametrize(
    "url", ["https://", "https://svc.example:99999", "https://[", "https://svc.example/a b", "https://svc.exämple", "https://a@svc.example", "https://svc.example?"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match="base_url"):
        Transport(url, "dk_secret")


@pytest.mark.parametrize("timeout", [0, -1, 601, float("nan")])
def test_a_deadline_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout_seconds"):
        Transport("https://svc.example", "dk_secret", timeout)
