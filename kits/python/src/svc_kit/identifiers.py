"""Names, times and URLs, each in its only valid form (protocol, identifiers; §2 to §4)."""

from __future__ import annotations

import re
from typing import Any

from .errors import InvalidArgument

ULID = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"
_GRANT_ID = re.compile(f"urn:svc:grant:{ULID}")
_RECEIPT_ID = re.compile(f"drc_{ULID}")
_JTI = re.compile(r"[A-Za-z0-9_-]{22,64}")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_METHOD = re.compile(r"[A-Z]{1,32}")
_CURRENCY = re.compile(r"[A-Z]{3}")


def _is_form(form: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def is_grant_id(value: Any) -> bool:
    return _is_form(_GRANT_ID, value)


def is_receipt_id(value: Any) -> bool:
    return _is_form(_RECEIPT_ID, value)


def is_jti(value: Any) -> bool:
    return _is_form(_JTI, value)


def is_sha256(value: Any) -> bool:
    return _is_form(_SHA256, value)


def is_method(value: Any) -> bool:
    return _is_form(_METHOD, value)


def is_currency(value: Any) -> bool:
    return _is_form(_CURRENCY, value)


def is_count(value: Any) -> bool:
    """An integer from 0 to 2^53−1."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def utf16_length(text: str) -> int:
    """The number of UTF-16 code units, by which ECMAScript and the protocol count characters."""
    return len(text) + sum(character > "\uffff" for character in text)


# ---- did:key and did:web

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_MULTIKEY = re.compile(f"z6Mk[{_BASE58}]{{44}}")
_ED25519 = b"\xed\x01"


def encode_multikey(key: bytes) -> str:
    """``z6Mk…``: base58btc of the multicodec prefix and a raw Ed25519 key."""
    if len(key) != 32:
        raise InvalidArgument("an Ed25519 public key has 32 bytes")
    number, text = int.from_bytes(_ED25519 + key, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = _BASE58[digit] + text
    return f"z{text}"


def decode_multikey(text: Any) -> bytes | None:
    """The raw key, not yet checked for strength, or None."""
    if not isinstance(text, str) or _MULTIKEY.fullmatch(text) is None:
        return None
    number = 0
    for character in text[1:]:
        number = number * 58 + _BASE58.index(character)
    data = number.to_bytes(35, "big")[1:]
    return data[2:] if encode_multikey(data[2:]) == text else None


def decode_did_key(did: Any) -> bytes | None:
    """The raw key of ``did:key:z6Mk…``, or None."""
    return decode_multikey(did[8:]) if isinstance(did, str) and did.startswith("did:key:") else None


_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_WEB_PORT = re.compile(r"[1-9][0-9]{0,4}")
_SEGMENT = re.compile(r"[A-Za-z0-9._-]+")


def is_did_web(value: Any) -> bool:
    """``did:web:<host>[%3A<port>][:<segment>…]``, restricted so that it cannot name another host or path than it shows."""
    if not isinstance(value, str) or not value.startswith("did:web:") or utf16_length(value) > 512:
        return False
    authority, *path = value[8:].split(":")
    host, *ports = authority.split("%3A")
    labels = host.split(".")
    if len(host) > 253 or _NUMERIC_LABEL.fullmatch(labels[-1]) or not all(map(_LABEL.fullmatch, labels)):
        return False
    if len(ports) > 1 or not all(_WEB_PORT.fullmatch(port) and int(port) <= 65_535 for port in ports):
        return False
    return all(_SEGMENT.fullmatch(segment) and segment not in (".", "..") for segment in path)


# ---- times

_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def parse_time(text: Any) -> int | None:
    """Milliseconds since the epoch of an RFC 3339 time in UTC with up to 9 decimals, of which three are used; or None."""
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return None
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _DAYS[month - 1] + (month == 2 and is_leap):
        return None
    seconds = ((_days_from_epoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    return seconds * 1000 + int(((found.group(7) or "") + "000")[:3])


def parse_seconds(text: Any) -> int | None:
    """The same for ``YYYY-MM-DDThh:mm:ssZ`` only."""
    return parse_time(text) if isinstance(text, str) and len(text) == 20 else None


def parse_instant(text: Any) -> int | None:
    """The same for ``YYYY-MM-DDThh:mm:ss.sssZ`` only."""
    return parse_time(text) if isinstance(text, str) and len(text) == 24 else None


def is_day(text: Any) -> bool:
    """Whether the text is ``YYYY-MM-DD`` and that day exists."""
    return isinstance(text, str) and parse_seconds(f"{text}T00:00:00Z") is not None


def _days_from_epoch(year: int, month: int, day: int) -> int:
    """In the proleptic Gregorian calendar with a year 0, which ``datetime`` lacks. Years begin in March here."""
    year -= month <= 2
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719_468


def format_day(milliseconds: int) -> str | None:
    """The UTC day of an instant, or None after the year 9999."""
    days = milliseconds // 86_400_000 + 719_468
    era, of_era = divmod(days, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    day, month = of_year - (153 * shifted + 2) // 5 + 1, shifted + (3 if shifted < 10 else -9)
    year = year_of_era + era * 400 + (month <= 2)
    return f"{year:04d}-{month:02d}-{day:02d}" if 0 <= year <= 9999 else None


def format_seconds(seconds: int) -> str:
    """``YYYY-MM-DDThh:mm:ssZ``."""
    day = format_day(seconds * 1000)
    if day is None:
        raise InvalidArgument("a time lies between the years 0000 and 9999")
    rest = seconds % 86_400
    return f"{day}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}Z"


def ulid_time(identifier: str) -> int:
    """Milliseconds since the epoch of the ULID at the end of an id."""
    time = 0
    for character in identifier[-26:-16]:
        time = time * 32 + _CROCKFORD.index(character)
    return time
