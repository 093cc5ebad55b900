"""The parts of both clients without I/O: their settings, and the request of a call."""

from __future__ import annotations

import os
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from urllib.parse import urlencode

import httpx

from . import _wire
from ._options import NOT_GIVEN, NotGiven, RequestOptions, TimeoutTypes
from ._version import __version__
from .errors import RunyardError

DEFAULT_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
DEFAULT_MAX_RETRIES = 2
_KEY = re.compile(r"[!-~]+")
DEFAULT_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)


@dataclass(frozen=True)
class Settings:
    """The complete settings of a client."""

    api_key: str | Callable[[], Any] = field(repr=False)
    base_url: str
    timeout: TimeoutTypes
    max_retries: int
    team_uid: str | None
    default_headers: Mapping[str, str] = field(repr=False)

    @classmethod
    def make(
        cls,
        *,
        api_key: str | Callable[[], Any] | None,
        base_url: str | httpx.URL | None,
        timeout: TimeoutTypes | NotGiven,
        max_retries: int,
        team_uid: str | None,
        default_headers: Mapping[str, str] | None,
    ) -> Settings:
        return cls(
            api_key=api_key if callable(api_key) else _required("api_key", api_key, "RUNYARD_API_KEY"),
            base_url=_required("base_url", base_url, "RUNYARD_BASE_URL").rstrip("/"),
            timeout=DEFAULT_TIMEOUT if isinstance(timeout, NotGiven) else timeout,
            max_retries=max_retries,
            team_uid=team_uid,
            default_headers=dict(default_headers or {}),
        )

    def __post_init__(self) -> None:
        if self.max_retries < 0:
            raise ValueError("max_retries must be 0 or more")
        if isinstance(self.api_key, str):
            check_key(self.api_key)
        if not self.base_url.startswith(("http://", "https://")):
            raise RunyardError(f"The base_url must begin with http:// or https://, not {self.base_url!r}.")

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request, by lower-case name."""
        headers = {
            "accept": "application/json",
            "user-agent": f"runyard-python/{__version__}",
        }
        if isinstance(self.api_key, str):
            headers["authorization"] = f"Bearer {self.api_key}"
        if self.team_uid is not None:
            headers["x-team-uid"] = self.team_uid
        headers.update({name.lower(): value for name, value in self.default_headers.items()})
        return headers


@dataclass
class Call:
    """One call of the API, the same for all attempts."""

    method: str
    url: str
    headers: dict[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    timeout: httpx.Timeout
    max_retries: int
    signed: bool = False
    """Whether the URL is signed. Then no credentials are sent."""

    @classmethod
    def make(
        cls,
        settings: Settings,
        common_headers: Mapping[str, str],
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, Any] | None,
        options: RequestOptions,
    ) -> Call:
        _check_names(options)
        method = method.upper()
        sent = dict(common_headers)
        if headers:
            sent.update({name.lower(): str(value) for name, value in _wire.given(headers).items()})
        if method == "POST":
            sent["idempotency-key"] = options.get("idempotency_key") or str(uuid.uuid4())
        content = None
        members = {**_wire.given(body or {}), **options.get("extra_body", {})}
        if body is not None or members:
            content = _wire.json_bytes(members)
            sent["content-type"] = "application/json"
        sent.update({name.lower(): value for name, value in options.get("extra_headers", {}).items()})
        return cls(
            method=method,
            url=_url(settings.base_url, path, {**(query or {}), **options.get("extra_query", {})}),
            headers=sent,
            content=content,
            timeout=_timeout(settings, options),
            max_retries=options.get("max_retries", settings.max_retries),
        )

    @classmethod
    def plain(
        cls,
        settings: Settings,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        options: RequestOptions,
    ) -> Call:
        """Creates a request to a signed URL, without the API's headers and credentials."""
        return cls(
            method=method,
            url=url,
            headers={"user-agent": f"runyard-python/{__version__}", **(headers or {})},
            content=content,
            timeout=_timeout(settings, options),
            max_retries=options.get("max_retries", settings.max_retries),
            signed=True,
        )

    def headers_of(self, attempt: int) -> dict[str, str]:
        """Returns the headers of an attempt, counted from 0."""
        if attempt == 0 or self.signed:
            return self.headers
        return {**self.headers, "x-stainless-retry-count": str(attempt)}


def check_key(key: str) -> str:
    """Returns the key. httpx would quote a key with characters that a header cannot have in its error."""
    if not _KEY.fullmatch(key):
        raise RunyardError("The api_key has characters that no key has, such as a line break.")
    return key


def or_keep(value: Any, kept: Any) -> Any:
    """Returns the value, or `kept` if no value is given."""
    return kept if value is NOT_GIVEN else value


def _required(name: str, value: str | httpx.URL | None, variable: str) -> str:
    # An empty value is a mistake, such as an unset variable of a workflow: the environment must not replace it.
    found = os.environ.get(variable) if value is None else value
    if not found:
        raise RunyardError(f"There is no {name}: pass it to the client, or set the environment variable {variable}.")
    return str(found)


def _timeout(settings: Settings, options: RequestOptions) -> httpx.Timeout:
    timeout = options.get("timeout", settings.timeout)
    return timeout if isinstance(timeout, httpx.Timeout) else httpx.Timeout(timeout)


def _check_names(options: RequestOptions) -> None:
    """Refuses misspelled arguments of a method, which arrive among its options and would have no effect."""
    for name in options:
        if name not in RequestOptions.__annotations__:
            raise TypeError(f"There is no argument {name!r}; extra_body takes members that this version does not know.")


def _url(base_url: str, path: str, query: Mapping[str, Any]) -> str:
    items = _wire.query_items(query) if query else []
    return f"{base_url}{path}?{urlencode(items)}" if items else f"{base_url}{path}"
