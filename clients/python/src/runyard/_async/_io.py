"""Helpers that differ from their synchronous counterparts in `_sync/_io.py`."""

from __future__ import annotations

import inspect
from typing import Any, AsyncIterator, Awaitable, Callable, Generator, Generic, TypeVar

import anyio

from ._pagination import AsyncPage

__all__ = ["AsyncPage", "AsyncPaginator", "invoke", "paginate", "sleep"]

T = TypeVar("T")


async def sleep(seconds: float) -> None:
    await anyio.sleep(seconds)


async def invoke(function: Callable[[], Any]) -> Any:
    """Calls a user's function, which may be asynchronous."""
    result = function()
    return await result if inspect.isawaitable(result) else result


class AsyncPaginator(Generic[T]):
    """The result of a `list` method: await it for the first page, or iterate over the items of all pages."""

    def __init__(self, first: Callable[[], Awaitable[AsyncPage[T]]]) -> None:
        self._first = first

    def __await__(self) -> Generator[None, None, AsyncPage[T]]:
        return self._first().__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for item in await self:
            yield item

    async def iter_pages(self) -> AsyncIterator[AsyncPage[T]]:
        """Iterates over all pages, starting with this one."""
        async for page in (await self).iter_pages():
            yield page


def paginate(first: Callable[[], Awaitable[AsyncPage[T]]]) -> AsyncPaginator[T]:
    return AsyncPaginator(first)
