from __future__ import annotations

from typing import Any, Awaitable, Callable, Mapping, TypeVar, cast

from typing_extensions import ParamSpec

from .._decode import CastTo
from .._models import BaseModel
from .._options import RequestOptions
from .._response import APIResponse
from ._io import AsyncPage, AsyncPaginator, paginate
from ._transport import AsyncTransport

T = TypeVar("T")
A = TypeVar("A", bound=BaseModel)
P = ParamSpec("P")


class AsyncResource:
    """A group of operations of the API."""

    _client: AsyncTransport

    def __init__(self, client: AsyncTransport, *, _raw: bool = False) -> None:
        self._client = client
        self._raw = _raw

    async def _call(
        self,
        method: str,
        path: str,
        *,
        cast_to: CastTo[T],
        options: RequestOptions,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
    ) -> T:
        response = await self._client._call(
            method, path, cast_to=cast_to, query=query, body=body, headers=headers, options=options
        )
        # In a resource from `with_raw_response`, the type of the method declares the raw response.
        return cast(T, response) if self._raw else response.parse()

    def _list(
        self,
        path: str,
        *,
        cast_to: type[A],
        items: Callable[[A], list[T]],
        options: RequestOptions,
        query: Mapping[str, Any],
    ) -> AsyncPaginator[T]:
        async def fetch_raw(cursor: str | None = None) -> APIResponse[AsyncPage[T]]:
            page_query = query if cursor is None else {**query, "cursor": cursor}
            response = await self._client._call("GET", path, cast_to=cast_to, query=page_query, options=options)
            body = response.parse()
            page = AsyncPage(items(body) or [], body, fetch)
            return APIResponse(response.http_response, page, response.retries_taken)

        async def fetch(cursor: str | None = None) -> AsyncPage[T]:
            response = await fetch_raw(cursor)
            return response.parse()

        # In a resource from `with_raw_response`, only the first page is a raw response.
        return paginate(cast("Callable[[], Awaitable[AsyncPage[T]]]", fetch_raw) if self._raw else fetch)


def to_raw(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[APIResponse[T]]]:
    """The type of a resource method that returns raw responses."""
    return cast(Callable[P, Awaitable[APIResponse[T]]], method)
