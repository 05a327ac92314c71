"""Strict JSON (protocol §1): every reader reads the same value from a text."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeAlias

from .arguments import checked
from .errors import Refused

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

MAX_DEPTH = 32
MAX_INTEGER = 2**53 - 1


@checked
def parse_json(text: str | bytes) -> Json:
    """Parses strict JSON.

    It refuses a byte order mark, a duplicate member, nesting deeper than 32, lone surrogates and U+0000. Numbers must be
    integers within ±(2^53−1), written without fraction and exponent. ``-0`` is 0.

    Raises:
        Refused: ``malformed-json``.
    """
    return _parse(text, _STRICT, MAX_DEPTH, takes_nul=False)


def parse_json_of_any_numbers(text: str | bytes) -> Json:
    """The same, but also accepts every number of RFC 8259, as a float, U+0000, and nesting up to 64.

    ``canonicalize`` can write all of these values.
    """
    return _parse(text, _ANY_NUMBERS, 64, takes_nul=True)


def _parse(text: str | bytes, decoder: json.JSONDecoder, depth: int, *, takes_nul: bool) -> Json:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            _refuse("not UTF-8")
    if text.startswith("\ufeff"):
        _refuse("byte order mark")
    if has_surrogate(text):
        _refuse("lone surrogate")
    try:
        value: Json = decoder.decode(text)
    except RecursionError:
        _refuse("nested too deep")
    except json.JSONDecodeError as problem:
        _refuse(str(problem))
    _check(value, depth, takes_nul)
    return value


def _check(value: Json, depth: int, takes_nul: bool) -> None:
    if isinstance(value, str):
        if has_surrogate(value):
            _refuse("lone surrogate")
        if not takes_nul and "\0" in value:
            _refuse("U+0000")
    elif isinstance(value, (list, dict)):
        if depth == 0:
            _refuse("nested too deep")
        for item in value:
            _check(item, depth - 1, takes_nul)
        if isinstance(value, dict):
            for item in value.values():
                _check(item, depth - 1, takes_nul)


def has_surrogate(text: str) -> bool:
    """Whether the text has a surrogate. In a ``str`` every surrogate is unpaired, so the text has no UTF-8 form."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _refuse(problem: str) -> NoReturn:
    raise Refused("malformed-json", problem)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        _refuse("duplicate member")
    return members


def _integer(literal: str) -> int:
    # Checks the length first, because reading thousands of digits takes quadratic time.
    if len(literal) > 17 or abs(int(literal)) > MAX_INTEGER:
        _refuse("number out of range")
    return int(literal)


def _no_fraction(_: str) -> float:
    _refuse("number not an integer")


def _no_constant(_: str) -> float:
    _refuse("not JSON")


def _finite(literal: str) -> float:
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        _refuse("number out of range")
    return value


_STRICT = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_float=_no_fraction, parse_constant=_no_constant
)
_ANY_NUMBERS = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_finite, parse_float=_finite, parse_constant=_no_constant
)
