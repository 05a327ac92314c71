"""What goes wrong, as exceptions."""


class SvcError(Exception):
    """Base of everything that this package raises."""


class Refused(SvcError, ValueError):
    """Input that is not what it claims to be.

    ``code`` is one of a closed list, the same as in the TypeScript packages (``FailureCode``, ``InclusionFailureCode``,
    ``BundleFailureCode``): the first fault that was found, where those list all.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class ServiceError(SvcError):
    """The service refused a call or could not be reached. ``status`` is None without an answer, ``code`` is its ``error``."""

    def __init__(self, message: str, status: int | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
