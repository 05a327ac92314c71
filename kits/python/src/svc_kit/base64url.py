"""base64url without padding (RFC 4648 §5), in its only valid spelling."""

from __future__ import annotations

import base64
import re

_FORM = re.compile(r"[A-Za-z0-9_-]*")


def encode(data: bytes) -> str:
    """The text, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes | None:
    """The bytes, or None for a text that ``encode`` never returns."""
    if _FORM.fullmatch(text) is None or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if encode(data) == text else None


def decode_text(text: str) -> str | None:
    """The decoded UTF-8 text, or None."""
    data = decode(text)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
