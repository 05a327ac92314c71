"""The exceptions of this package."""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["refused", "network", "timeout", "outcome-unknown", "bad-response"]


class SvcError(Exception):
    """Base of all exceptions that this package raises."""


class InvalidArgument(SvcError, ValueError):
    """A call that no answer could make right: an argument of a wrong type or value, or a wrong clock."""


class Refused(SvcError, ValueError):
    """Input that is not what it claims to be.

    ``code`` is one of a closed list, the same as in the TypeScript packages (``FailureCode``, ``InclusionFailureCode``,
    ``BundleFailureCode``). It is that of the first fault found, whereas those packages list all faults.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.receipt_id: str | None = None
        """For an answer to ``RelyingParty.verify``: the id in it; None if it has none. Not verified if ``receipt`` is None."""
        self.receipt: dict[str, Any] | None = None
        """The Receipt that came with that answer, if its signature was verified with a key in force; else None."""


class ServiceError(SvcError):
    """The service refused a call, or its answer is invalid. ``kind`` says what happened, as in the TypeScript SDK:

    - ``refused``: it answered with an error; see ``status`` and ``code``. Only after a 503 may a call have taken effect.
    - ``network``: it could not be reached; nothing happened.
    - ``timeout``: a call that changes nothing got no answer in time.
    - ``outcome-unknown``: a call that changes something was sent, and may or may not have taken effect. Its answer was
      lost; or it came from a gateway or reports a fault of the service (any 5xx except 503); or it was a 503 and a later
      attempt ended otherwise.
    - ``bad-response``: the interface does not allow this answer.
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
        """The page about ``code`` and its remedy; None if the answer names none."""
