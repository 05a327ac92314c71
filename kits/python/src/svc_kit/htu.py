"""The normal form in which URLs are compared (protocol §4; RFC 3986 §6.2.2, §6.2.3)."""

from __future__ import annotations

import re

from .arguments import checked

MAX_CHARS = 2048
_PLAIN = re.compile(r"(?:[!-$&-\[\]-~]|%[0-9A-Fa-f]{2})*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_REG_NAME = re.compile(r"(?:[a-z0-9._~!$&'()*+,;=-]|%[89A-F][0-9A-F])+")
_PORT = re.compile(r"0|[1-9][0-9]{0,4}")
_H16 = re.compile(r"[0-9a-f]{1,4}")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")


@checked
def normalize_htu(url: str) -> str | None:
    """The normal form of an absolute http or https URL without query and fragment, or None if the URL is refused."""
    if len(url) > MAX_CHARS or _PLAIN.fullmatch(url) is None:
        return None
    scheme = url.split("://")[0].lower()
    if scheme not in ("http", "https") or url[len(scheme) : len(scheme) + 3] != "://":
        return None
    found = re.match(r"([^/?#]*)([^?#]*)", url[len(scheme) + 3 :])
    assert found is not None
    authority = _authority(found.group(1), "443" if scheme == "https" else "80")
    if authority is None:
        return None
    normal = f"{scheme}://{authority}{_without_dot_segments(_escapes(found.group(2)))}"
    return normal if len(normal) <= MAX_CHARS else None


def _authority(text: str, default_port: str) -> str | None:
    host_end = text.find("]") + 1 if text.startswith("[") else len(text.partition(":")[0])
    host, rest = _host(text[:host_end]), text[host_end:]
    if host is None or (rest and not rest.startswith(":")):
        return None
    port = rest[1:]
    if port in ("", default_port):
        return host
    return f"{host}:{port}" if _PORT.fullmatch(port) and int(port) <= 65_535 else None


def _host(text: str) -> str | None:
    if text.startswith("["):
        address = text[1:-1].lower()
        return f"[{address}]" if _is_ipv6(address) else None
    host = _escapes(text.lower(), lower=True)
    return host if _REG_NAME.fullmatch(host) else None


def _escapes(text: str, *, lower: bool = False) -> str:
    """Escapes in upper case, with those of unreserved characters decoded."""

    def normal(found: re.Match[str]) -> str:
        character = chr(int(found.group(1), 16))
        if _UNRESERVED.fullmatch(character):
            return character.lower() if lower else character
        return found.group().upper()

    return _ESCAPE.sub(normal, text)


def _without_dot_segments(path: str) -> str:
    """RFC 3986 §5.2.4. Empty segments count as segments."""
    segments = path.split("/")[1:]
    kept: list[str] = []
    for i, segment in enumerate(segments):
        if segment not in (".", ".."):
            kept.append(segment)
            continue
        if segment == "..":
            del kept[-1:]
        if i == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)


def _is_ipv6(text: str) -> bool:
    """RFC 3986 §3.2.2 in lower case."""
    head, *tails = text.split("::")
    if len(tails) > 1:
        return False
    groups = _groups(head, ends=not tails)
    if not tails:
        return groups == 8
    after = _groups(tails[0], ends=True)
    return groups is not None and after is not None and groups + after <= 7


def _groups(text: str, *, ends: bool) -> int | None:
    """The number of 16-bit groups, or None if malformed. Only the end of an address may be dotted IPv4."""
    if not text:
        return 0
    groups = text.split(":")
    dotted = ends and _IPV4.fullmatch(groups[-1]) is not None
    plain = groups[:-1] if dotted else groups
    return len(plain) + 2 * dotted if all(map(_H16.fullmatch, plain)) else None
