"""Everything that this package raises.

    RunyardError
    ├── RunTimeoutError                   a run that was followed has not ended in the time given
    └── APIError                          a request failed
        ├── APIConnectionError            no answer, or one that broke off or cannot be read
        │   └── APITimeoutError           no answer in time
        └── APIStatusError                an answer with a bad status
            ├── BadRequestError           400
            ├── AuthenticationError       401
            ├── PermissionDeniedError     403
            ├── NotFoundError             404
            ├── ConflictError             409
            ├── UnprocessableEntityError  422
            ├── RateLimitError            429
            └── InternalServerError       500 and above

Errors of the service are problem documents (RFC 9457): the members of one are attributes of `APIStatusError`. A gateway
in between may answer in another form; then those attributes are `None`, and `body` holds what came.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import httpx


class RunyardError(Exception):
    """Whatever goes wrong in this package: a missing API key, for instance."""


class RunTimeoutError(RunyardError):
    """A run has not ended in the time that `max_wait` gave it. It goes on."""

    run_id: str

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The run {run_id} has not ended in time; it goes on.")
        self.run_id = run_id

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.run_id,)


class APIError(RunyardError):
    """A request failed."""

    message: str
    request: httpx.Request
    """What was sent. Its headers hold the API key."""

    def __init__(self, message: str, *, request: httpx.Request) -> None:
        super().__init__(message)
        self.message = message
        self.request = request

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come whole out of other processes, where a pool or a queue pickles them."""
        return _revive, (type(self), self.args, self.__dict__)


class APIConnectionError(APIError):
    """There was no answer, or not a whole one. What came from below is `__cause__`."""

    def __init__(self, message: str = "Connection error.", *, request: httpx.Request) -> None:
        super().__init__(message, request=request)


class APITimeoutError(APIConnectionError):
    """There was no answer in time."""

    def __init__(self, message: str = "The request timed out.", *, request: httpx.Request) -> None:
        super().__init__(message, request=request)


class FieldError(NamedTuple):
    """One field of a request that is not valid."""

    path: str
    """The field, such as `config.model_id`."""
    message: str


class APIStatusError(APIError):
    """The service, or a gateway before it, answered with a status of 300 or above."""

    response: httpx.Response
    status_code: int
    body: object
    """The body: parsed where it is JSON, else its text."""
    request_id: str | None
    """The header `x-request-id`."""
    type: str | None
    """URI of the error code's page in the documentation."""
    title: str | None
    detail: str | None
    """What is wrong with this request; names the field at fault."""
    instance: str | None
    error_code: str | None
    """One of a closed list, such as `invalid_request` or `budget_exceeded`."""
    retryable: bool | None
    """Whether the same request may succeed later."""
    trace_id: str | None
    """Name this one when you report a problem: it leads to the logs."""
    errors: list[FieldError]
    """One entry for each field that is not valid."""

    def __init__(self, *, response: httpx.Response) -> None:
        body = _body(response)
        problem = body if isinstance(body, dict) else {}
        super().__init__(_message(response, problem), request=response.request)
        self.response = response
        self.status_code = response.status_code
        self.body = body
        self.type = _text(problem, "type")
        self.title = _text(problem, "title")
        self.detail = _text(problem, "detail")
        self.instance = _text(problem, "instance")
        self.error_code = _text(problem, "error_code")
        self.trace_id = _text(problem, "trace_id") or response.headers.get("x-request-id")
        self.request_id = response.headers.get("x-request-id")
        retryable = problem.get("retryable")
        self.retryable = retryable if isinstance(retryable, bool) else None
        self.errors = _field_errors(problem.get("errors"))


class BadRequestError(APIStatusError):
    """400: the request is not valid; `errors` names each field that is wrong."""


class AuthenticationError(APIStatusError):
    """401: the API key is missing, malformed, expired or deleted."""


class PermissionDeniedError(APIStatusError):
    """403: the caller may not do this; `error_code` says why."""


class NotFoundError(APIStatusError):
    """404: there is no such thing, or none that the caller may see."""


class ConflictError(APIStatusError):
    """409: a taken name, a key used with another body, or, where `retryable`, a race that was lost."""


class UnprocessableEntityError(APIStatusError):
    """422: understood, and not possible for this thing."""


class RateLimitError(APIStatusError):
    """429: a limit is reached for now."""


class InternalServerError(APIStatusError):
    """500 and above: something went wrong on the other side; `trace_id` names it."""


_BY_STATUS: dict[int, type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableEntityError,
    429: RateLimitError,
}


def _revive(kind: type[APIError], args: tuple[Any, ...], state: dict[str, Any]) -> APIError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def status_error(response: httpx.Response) -> APIStatusError:
    """The error for an answer whose body has been read."""
    other = InternalServerError if response.status_code >= 500 else APIStatusError
    return _BY_STATUS.get(response.status_code, other)(response=response)


def connection_error(cause: Exception, request: httpx.Request) -> APIConnectionError:
    """The error for a request that got no whole answer, with the reason as its cause."""
    error: APIConnectionError
    if isinstance(cause, httpx.TimeoutException):
        error = APITimeoutError(request=request)
    else:
        error = APIConnectionError(f"Connection error: {cause}" if str(cause) else "Connection error.", request=request)
    error.__cause__ = cause
    return error


def _body(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return response.text


def _message(response: httpx.Response, problem: dict[str, Any]) -> str:
    said = _text(problem, "error") or _text(problem, "title") or _text(problem, "message")
    return f"{response.status_code} {said or response.reason_phrase or 'without a reason'}"


def _text(problem: dict[str, Any], name: str) -> str | None:
    value = problem.get(name)
    return value if isinstance(value, str) else None


def _field_errors(value: object) -> list[FieldError]:
    entries = value if isinstance(value, list) else []
    return [
        FieldError(path=str(entry.get("path", "")), message=str(entry.get("message", "")))
        for entry in entries
        if isinstance(entry, dict)
    ]
