"""A service that gives prescribed answers in order, over real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """``body`` None: the connection is closed without one. ``cut_at``: it is closed after this many bytes of the body."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    cut_at: int | None = None

    def __str__(self) -> str:
        return "lost" if self.body is None else f"{self.status}{'' if self.cut_at is None else ' cut short'}"


LOST = Answer(body=None)
CUT_SHORT = Answer(body={"done": True}, cut_at=5)


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@contextmanager
def scripted(*answers: Answer) -> Iterator[tuple[str, list[Received]]]:
    """Its address, and the requests that it received. Every request beyond the answers gets a 410."""
    asked: list[Received] = []
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked.append(Received(self.command, self.path, headers, json.loads(text) if text else None))
            answer = left.pop(0) if left else Answer(410)
            if answer.body is None:
                self.close_connection = True
                return
            data = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(data)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: answer.cut_at])
            self.close_connection = self.close_connection or answer.cut_at is not None

        do_GET = do_POST = do

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=30)
