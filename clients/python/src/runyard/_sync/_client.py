# Generated from src/runyard/_async/_client.py by scripts/generate: do not edit.
from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Callable, Mapping, TypeVar

import httpx

from .._base import DEFAULT_LIMITS, DEFAULT_MAX_RETRIES, Settings, or_keep
from .._decode import CastTo
from .._options import NOT_GIVEN, NotGiven, RequestOptions, TimeoutTypes
from .resources import Resources
from .resources.agents import Agents

T = TypeVar("T")
Self = TypeVar("Self", bound="Runyard")


class Runyard(Resources):
    """The asynchronous client.

    Each group of operations is an attribute: `client.runs`, `client.schedules`, and so on.
    A client keeps connections open: use one client for many calls, and close it or use it with `with`.
    """

    def __init__(
        self,
        *,
        api_key: str | Callable[[], str] | None = None,
        base_url: str | httpx.URL | None = None,
        timeout: TimeoutTypes | NotGiven = NOT_GIVEN,
        max_retries: int = DEFAULT_MAX_RETRIES,
        team_uid: str | None = None,
        default_headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """
        Args:
            api_key: The API key, or a function that returns the current key, called for every attempt. Default: the
                environment variable `RUNYARD_API_KEY`.
            base_url: The base URL of the deployment, which ends in `/api/v1`. Default: the environment variable
                `RUNYARD_BASE_URL`.
            timeout: Seconds for one attempt of a request, or an `httpx.Timeout`; `None` for no limit. Default: 60, and
                5 for the connection.
            max_retries: The number of retries after a temporary failure. Default: 2.
            team_uid: The team for all requests. Required only for people with several teams.
            default_headers: Headers to send with every request.
            http_client: The HTTP client to use, for proxies, certificates or tests. Closing the client does not close
                it. Default: a new one.

        Raises:
            RunyardError: The API key or the base URL is missing or invalid.
        """
        self._settings = Settings.make(
            api_key=api_key,
            base_url=base_url,
            timeout=timeout,
            max_retries=max_retries,
            team_uid=team_uid,
            default_headers=default_headers,
        )
        self._headers = self._settings.headers
        self._owns_http = http_client is None
        self._http = http_client or httpx.Client(limits=DEFAULT_LIMITS)

    @property
    def skills(self) -> Agents:
        """List the skills in repositories; the same as `agents`, its older name."""
        return self.agents

    @property
    def base_url(self) -> str:
        return self._settings.base_url

    @property
    def max_retries(self) -> int:
        return self._settings.max_retries

    @property
    def timeout(self) -> TimeoutTypes:
        return self._settings.timeout

    @property
    def team_uid(self) -> str | None:
        return self._settings.team_uid

    def with_options(
        self: Self,
        *,
        api_key: str | Callable[[], str] | NotGiven = NOT_GIVEN,
        base_url: str | NotGiven = NOT_GIVEN,
        timeout: TimeoutTypes | NotGiven = NOT_GIVEN,
        max_retries: int | NotGiven = NOT_GIVEN,
        team_uid: str | NotGiven | None = NOT_GIVEN,
        default_headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
    ) -> Self:
        """Returns a copy of the client with other settings. Both share connections, which the original closes."""
        settings = self._settings
        made = object.__new__(type(self))
        made._settings = replace(
            settings,
            api_key=or_keep(api_key, settings.api_key),
            base_url=or_keep(base_url, settings.base_url).rstrip("/"),
            timeout=or_keep(timeout, settings.timeout),
            max_retries=or_keep(max_retries, settings.max_retries),
            team_uid=or_keep(team_uid, settings.team_uid),
            default_headers=or_keep(default_headers, settings.default_headers),
        )
        made._headers = made._settings.headers
        made._owns_http = False
        made._http = self._http
        return made

    def request(
        self,
        method: str,
        path: str,
        *,
        cast_to: CastTo[T],
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        options: RequestOptions | None = None,
    ) -> T:
        """Sends a request that has no method of its own: `client.request("GET", "/agent/me", cast_to=Me)`."""
        response = self._call(method, path, cast_to=cast_to, query=query, body=body, options=options or {})
        return response.parse()

    def close(self) -> None:
        """Closes the connections, unless they belong to your own `http_client`."""
        if self._owns_http:
            self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.base_url}>"
