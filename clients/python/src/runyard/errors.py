"""The exceptions of this package.

    RunyardError
    ├── RunTimeoutError                   a followed run has not ended within `max_wait`
    └── APIError                          a request failed
        ├── APIConnectionError            no response, or one that is incomplete or unreadable
        │   └── APITimeoutError           no response within the timeout
        └── APIStatusError                an error response
            ├── BadRequestError           400
            ├── AuthenticationError       401
            ├── PermissionDeniedError     403
            ├── NotFoundError             404
            ├── ConflictError             409
            ├── UnprocessableEntityError  422
            ├── RateLimitError            429
            └── InternalServerError       500 and above

Errors of the service are problem documents (RFC 9457), whose members are attributes of `APIStatusError`. A gateway may
respond in another format; then these attributes are `None`, and `body` has the response body.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import httpx


class RunyardError(Exception):
    """The base class of all errors. Raised itself if the client is misconfigured, such as without an API key."""


class RunTimeoutError(RunyardError):
    """A run has not ended within `max_wait` seconds. It continues."""

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
    """The request that was sent. Its headers contain the API key."""

    def __init__(self, message: str, *, request: httpx.Request) -> None:
        super().__init__(message)
        self.message = message
        self.request = request

    def __reduce__(self) -> tuple[Any, ...]:
        """Keeps all attributes when an error is pickled, such as by a process pool."""
        return _revive, (type(self), self.args, self.__dict__)


class APIConnectionError(APIError):
    """There was no response, or it was incomplete or unreadable. `__cause__` is the underlying error."""

    def __init__(self, message: str = "Connection error.", *, request: httpx.Request) -> None:
        super().__init__(message, request=request)


class APITimeoutError(APIConnectionError):
    """There was no response within the timeout."""

    def __init__(self, message: str = "The request timed out.", *, request: httpx.Request) -> None:
        super().__init__(message, request=request)


class FieldError(NamedTuple):
    """One invalid field of a request."""

    path: str
    """The path of the field, such as `config.model_id`."""
    message: str


class APIStatusError(APIError):
    """The service, or a gateway in front of it, returned a status of 300 or above."""

    response: httpx.Response
    status_code: int
    body: object
    """The body: parsed if it is JSON, otherwise its text."""
    request_id: str | None
    """The header `x-request-id`."""
    type: str | None
    """The URI of the documentation of the error code."""
    title: str | None
    detail: str | None
    """What is wrong with this request. Names the invalid field."""
    instance: str | None
    error_code: str | None
    """One of a closed list, such as `invalid_request` or `budget_exceeded`."""
    retryable: bool | None
    """Whether the same request may succeed later."""
    trace_id: str | None
    """The id of the request's trace, to quote in a support request."""
    errors: list[FieldError]
    """One entry for each invalid field."""

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
    """400: the request is invalid. `errors` lists the invalid fields."""


class AuthenticationError(APIStatusError):
    """401: the API key is missing, malformed, expired or deleted."""


class PermissionDeniedError(APIStatusError):
    """403: the caller is not allowed to do this. `error_code` gives the reason."""


class NotFoundError(APIStatusError):
    """404: the resource does not exist or is not visible to the caller."""


class ConflictError(APIStatusError):
    """409: a name in use, an idempotency key with another body, or, if `retryable`, a concurrent change."""


class UnprocessableEntityError(APIStatusError):
    """422: the resource does not support the operation."""


class RateLimitError(APIStatusError):
    """429: a rate or capacity limit is reached."""


class InternalServerError(APIStatusError):
    """500 and above: the service failed. Quote `trace_id` in a support request."""


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
    """Returns the error for a response whose body has been read."""
    other = InternalServerError if response.status_code >= 500 else APIStatusError
    return _BY_STATUS.get(response.status_code, other)(response=response)


def connection_error(cause: Exception, request: httpx.Request) -> APIConnectionError:
    """Returns the error for a request without a complete response, with the reason as its cause."""
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
    summary = _text(problem, "error") or _text(problem, "title") or _text(problem, "message")
    return f"{response.status_code} {summary or response.reason_phrase or 'without a reason'}"


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
