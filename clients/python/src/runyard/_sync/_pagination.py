# Generated from src/runyard/_async/_pagination.py by scripts/generate: do not edit.
from __future__ import annotations

from typing import Callable, Generic, Iterator, TypeVar

from .._models import BaseModel
from ..types import PageInfo

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list. Iterating over it continues with all following pages."""

    data: list[T]
    """The items of this page."""
    page_info: PageInfo
    """The position of the page in the list."""
    body: BaseModel
    """The complete response, with members other than the items, such as a conversation's id."""

    def __init__(self, data: list[T], body: BaseModel, fetch: Callable[[str], Page[T]]) -> None:
        self.data = data
        self.page_info = getattr(body, "page_info", None) or PageInfo(has_next_page=False)
        self.body = body
        self._fetch = fetch

    def has_next_page(self) -> bool:
        """Whether there is another page."""
        return bool(self.page_info.has_next_page and self.page_info.next_cursor)

    def get_next_page(self) -> Page[T]:
        """Fetches the next page of the same query. Raises `RuntimeError` after the last page."""
        cursor = self.page_info.next_cursor
        if not self.has_next_page() or cursor is None:
            raise RuntimeError("There is no page after this one: call has_next_page() first.")
        return self._fetch(cursor)

    def iter_pages(self) -> Iterator[Page[T]]:
        """Iterates over all pages, starting with this one."""
        page = self
        yield page
        while page.has_next_page():
            page = page.get_next_page()
            yield page

    def __iter__(self) -> Iterator[T]:
        for page in self.iter_pages():
            for item in page.data:
                yield item

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.data)} items, has_next_page={self.has_next_page()}>"
