"""What goes wrong, as exceptions."""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["refused", "network", "timeout", "outcome-unknown", "bad-response"]


class SvcError(Exception):
    """Base of everything that this package raises."""


class InvalidArgument(SvcError, ValueError):
    """A call that no answer could make right: an argument of another type, one that the function does not take, or a clock that is off."""


class Refused(SvcError, ValueError):
    """Input that is not what it claims to be.

    ``code`` is one of a closed list, the same as in the TypeScript packages (``FailureCode``, ``InclusionFailureCode``,
    ``BundleFailureCode``): the first fault that was found, where those list all.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.receipt_id: str | None = None
        """Of an answer to ``RelyingParty.verify``: the id in it, which nobody has verified where ``receipt`` is None. None where it has none."""
        self.receipt: dict[str, Any] | None = None
        """The Receipt that came with that answer, where its signature has been verified, by a key in force; else None."""


class ServiceError(SvcError):
    """The service refused a call, or what it answered is none. ``kind`` says what happened, in the words of the TypeScript SDK:

    - ``refused``: it answered with an error; see ``status`` and ``code``. Only after a 503 may a call have taken effect.
    - ``network``: it could not be reached; nothing happened.
    - ``timeout``: no answer in time to a call that changes nothing.
    - ``outcome-unknown``: a call that changes something was sent, and its answer was lost, came from a gateway or tells of a
      fault of the service (any 5xx but 503), or was a 503 and a later attempt ended otherwise; it may or may not have taken effect.
    - ``bad-response``: an answer that the interface does not allow.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        code: str | None = None,
        *,
        kind: Kind = "bad-response",
        retry_after_seconds: float | None = None,
        request_id: str | None = None,
        help_url: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        """The HTTP status of the answer; None without one."""
        self.code = code
        """The ``error`` of the answer, such as ``RATE_LIMITED``."""
        self.retry_after_seconds = retry_after_seconds
        self.request_id = request_id
        """``Svc-Request-Id``, for the service's operator."""
        self.help_url = help_url
        """The page about ``code`` and its remedy; None where the answer names none."""
