from __future__ import annotations

from typing import AsyncIterator, Awaitable, Callable, Generic, TypeVar

from .._models import BaseModel
from ..types import PageInfo

T = TypeVar("T")


class AsyncPage(Generic[T]):
    """One page of a list. Iterating over it continues with all following pages."""

    data: list[T]
    """The items of this page."""
    page_info: PageInfo
    """The position of the page in the list."""
    body: BaseModel
    """The complete response, with members other than the items, such as a conversation's id."""

    def __init__(self, data: list[T], body: BaseModel, fetch: Callable[[str], Awaitable[AsyncPage[T]]]) -> None:
        self.data = data
        self.page_info = getattr(body, "page_info", None) or PageInfo(has_next_page=False)
        self.body = body
        self._fetch = fetch

    def has_next_page(self) -> bool:
        """Whether there is another page."""
        return bool(self.page_info.has_next_page and self.page_info.next_cursor)

    async def get_next_page(self) -> AsyncPage[T]:
        """Fetches the next page of the same query. Raises `RuntimeError` after the last page."""
        cursor = self.page_info.next_cursor
        if not self.has_next_page() or cursor is None:
            raise RuntimeError("There is no page after this one: call has_next_page() first.")
        return await self._fetch(cursor)

    async def iter_pages(self) -> AsyncIterator[AsyncPage[T]]:
        """Iterates over all pages, starting with this one."""
        page = self
        yield page
        while page.has_next_page():
            page = await page.get_next_page()
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.iter_pages():
            for item in page.data:
                yield item

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.data)} items, has_next_page={self.has_next_page()}>"
