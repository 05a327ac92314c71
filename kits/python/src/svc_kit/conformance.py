"""``python -m svc_kit.conformance [PORT]``: serves this kit by ``svc-conformance-http v1``, on this machine only.

The kit is a library without an engine, so it has no ``evaluate``. Test it with ``svc-conformance run --library``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from typing import Any

from .errors import Refused
from .htu import normalize_htu
from .identifiers import is_jti
from .jcs import canonicalize
from .jws import sha256
from .strict_json import parse_json_of_any_numbers

CONTRACT = "svc-conformance-http v1"
_MAX_REQUEST_BYTES = 1_048_576
_MAX_CASES = 1_000
_IDLE_SECONDS = 30


def _canonicalize(text: str) -> str | None:
    try:
        return canonicalize(parse_json_of_any_numbers(text))
    except (Refused, ValueError):
        return None


_OPS: dict[str, Callable[[str], Any]] = {
    "normalizeHtu": normalize_htu,
    "canonicalize": _canonicalize,
    "sha256": sha256,
    "isJti": is_jti,
}


def answer(request_text: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the body of an answer."""
    try:
        request = json.loads(request_text)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict) or request.get("contract") != CONTRACT:
        return _refuse(f'the request must be a JSON object with "contract": "{CONTRACT}"')
    op, cases = request.get("op"), request.get("cases")
    if op == "describe":
        return 200, {
            "contract": CONTRACT,
            "op": op,
            "implementation": {"name": "svc-kit for Python", "version": _version()},
            "ops": ["describe", *_OPS],
            "profiles": [],
            "receipts": False,
            "max_request_bytes": _MAX_REQUEST_BYTES,
            "max_cases": _MAX_CASES,
        }
    if not isinstance(op, str) or op not in _OPS:
        return _refuse("this op is not supported: ask for describe")
    if not isinstance(cases, list) or len(cases) > _MAX_CASES or not all(_is_case(case) for case in cases):
        return _refuse(f"cases must be at most {_MAX_CASES} of {{id, input}}")
    return 200, {"contract": CONTRACT, "op": op, "results": [_result(_OPS[op], case) for case in cases]}


def _refuse(error: str) -> tuple[int, dict[str, Any]]:
    return 400, {"contract": CONTRACT, "error": error}


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and isinstance(case.get("id"), str) and "input" in case


def _result(run: Callable[[str], Any], case: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(case["input"], str):
        return {"id": case["id"], "error": "the input must be a text"}
    try:
        return {"id": case["id"], "result": run(case["input"])}
    except ValueError as problem:  # such as half a surrogate pair, which cannot be encoded as bytes
        return {"id": case["id"], "error": str(problem)}


def _version() -> str:
    try:
        return metadata.version("svc-kit")
    except metadata.PackageNotFoundError:
        return "source"


class Handler(BaseHTTPRequestHandler):
    """Handles one POST to any path, then closes the connection."""

    timeout = _IDLE_SECONDS

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _MAX_REQUEST_BYTES:
            self._send(*_refuse(f"a request must say its length, {_MAX_REQUEST_BYTES} bytes at most"))
        else:
            self._send(*answer(self.rfile.read(int(length))))

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def main() -> None:
    """Serves until the process is ended."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8090
    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        print(f"{CONTRACT} at http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
