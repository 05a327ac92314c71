"""Refuses arguments of a wrong type by name, before anything is done with them."""

from __future__ import annotations

import collections.abc
import enum
import functools
import inspect
import math
import types
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .errors import InvalidArgument

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class LeftOut(enum.Enum):
    """The default of an argument whose absence allows more, so that ``None`` cannot mean it by mistake."""

    LEFT_OUT = "left out"


LEFT_OUT = LeftOut.LEFT_OUT
_NAMES = {str: "a str", bytes: "bytes", int: "an int", float: "a number", type(None): "None", LeftOut: "left out"}


def checked(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The function, which then raises ``InvalidArgument`` for an argument that is not of the type in its signature."""
    return checked_but()(function)


def checked_but(*data: str) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """The same, except for the arguments of these names: they are data, which the function itself checks and refuses."""

    def check_calls_of(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        signature = inspect.signature(function)

        @functools.cache
        def hints() -> dict[str, Any]:
            return {name: hint for name, hint in typing.get_type_hints(function).items() if name not in data}

        @functools.wraps(function)
        def call(*arguments: _Given.args, **named: _Given.kwargs) -> _Result:
            check_values(signature.bind(*arguments, **named).arguments, hints())
            return function(*arguments, **named)

        return call

    return check_calls_of


def check_values(values: typing.Mapping[str, Any], hints: typing.Mapping[str, Any]) -> None:
    """Raises ``InvalidArgument`` with the name of the first value that is not of its type. Values are never shown."""
    for name, value in values.items():
        if name in hints and not _is_of(hints[name], value):
            raise InvalidArgument(f"{name} must be {_named(hints[name])}, not {type(value).__name__}")


def read_clock(now: Callable[[], float]) -> float:
    """Calls the caller's clock, which returns seconds since the epoch."""
    seconds = now()
    if not _is_of(float, seconds) or not math.isfinite(seconds):
        raise InvalidArgument("now must return the seconds since the epoch")
    return seconds


def _is_of(hint: Any, value: Any) -> bool:
    if hint is Any:
        return True
    if hint in (int, float):
        return isinstance(value, int if hint is int else (int, float)) and not isinstance(value, bool)
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return isinstance(value, hint)
    if origin in (typing.Union, types.UnionType):
        return any(_is_of(part, value) for part in parts)
    if origin is collections.abc.Callable:
        return callable(value)
    if not isinstance(value, origin) or isinstance(value, (str, bytes)):
        return False
    # Of a mapping only the names are checked, because its values may be of any type.
    return all(_is_of(parts[0], item) for item in value)


def _named(hint: Any) -> str:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return _NAMES.get(hint, f"a {hint.__name__}")
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_named(part) for part in parts)
    if origin is collections.abc.Callable:
        return "a function"
    return f"a {origin.__name__} of {_named(parts[0]).removeprefix('a ')}"
