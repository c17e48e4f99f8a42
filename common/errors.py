"""The one error class of the application.

Services and rules raise `ApplicationError`; the doors (API, admin, commands) translate it.
`code` is stable and machine-readable, `message` is for people (lazy-translated), `status` is the
HTTP status that the API answers, `errors` lists single faults with a JSON pointer each,
`extra` holds further members of the problem document (RFC 9457).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: code -> HTTP status. A code that is not listed here is a programming error.
STATUS_BY_CODE: dict[str, int] = {
    "VALIDATION_ERROR": 400,
    "PATH_INVALID": 400,
    "AGENT_NAME_TAKEN": 400,
    "AGENT_EXPERIENCE_CONTENT_INVALID": 400,
    "AGENT_EXPERIENCE_ID_INVALID": 400,
    "LESSON_INCOMPLETE": 400,
    "LESSON_SUPERSEDE_CYCLE": 400,
    "RECALL_INPUT_EMPTY": 400,
    "PARAMETER_OUT_OF_RANGE": 400,
    "AUTH_REQUIRED": 401,
    "API_KEY_INVALID": 401,
    "SCOPE_MISSING": 403,
    "COMPANY_FORBIDDEN": 403,
    "PERMISSION_DENIED": 403,
    "PROTECTED_PATH": 403,
    "NOT_FOUND": 404,
    "AGENT_NOT_FOUND": 404,
    "AGENT_EXPERIENCE_NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "NOT_ACCEPTABLE": 406,
    "STATE_CONFLICT": 409,
    "IDEMPOTENCY_KEY_REUSED": 409,
    "AGENT_DEFAULT_UNDELETABLE": 409,
    "ROLLBACK_CONFLICT": 409,
    "PROTECTED_PATHS_UNAVAILABLE": 409,
    "AGENT_DISABLED": 410,
    "VERSION_MISMATCH": 412,
    "BODY_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "PRECONDITION_REQUIRED": 428,
    "RATE_LIMITED": 429,
    "SERVER_ERROR": 500,
    "SERVICE_UNAVAILABLE": 503,
}


@dataclass(frozen=True)
class Fault:
    """One faulty place in the input: where (`pointer`, RFC 6901), which rule (`code`), and what to do."""

    pointer: str
    code: str
    detail: Any


@dataclass
class ApplicationError(Exception):
    """An expected failure with a stable code; never a bug."""

    code: str
    message: Any = ""
    errors: Sequence[Fault] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(self.code, self.message)

    @property
    def status(self) -> int:
        """HTTP status of this error."""
        return STATUS_BY_CODE[self.code]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def below(pointer: str, key: str | int) -> str:
    """The JSON pointer (RFC 6901) of the member `key` of what `pointer` names."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def invalid(pointer: str, detail: Any, code: str = "VALIDATION_ERROR", **extra: Any) -> ApplicationError:
    """An `ApplicationError` for one faulty field; `pointer` e.g. `/experiences/1/content`."""
    return ApplicationError(code, detail, errors=(Fault(pointer, code, detail),), extra=extra)
