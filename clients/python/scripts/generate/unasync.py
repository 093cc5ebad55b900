"""Generates the synchronous client in `_sync/` from the asynchronous one in `_async/`."""

from __future__ import annotations

import re

NAMES = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aiter_text": "iter_text",
    "aread": "read",
    "asynccontextmanager": "contextmanager",
    "_async": "_sync",
    "AsyncByteStream": "SyncByteStream",
    "AsyncClient": "Client",
    "AsyncContextManager": "ContextManager",
    "AsyncIterable": "Iterable",
    "AsyncIterator": "Iterator",
    "AsyncPaginator": "Page",
}


def to_sync(source: str) -> str:
    """Replaces whole words, in docstrings too, where `async with` is code as well."""
    source = re.sub(r"\basync (?=def|with|for)|\bawait ", "", source)
    return _unwrap_awaitable(re.sub(r"\b\w+\b", lambda word: _name(word.group()), source))


def _name(name: str) -> str:
    return NAMES.get(name) or re.sub(r"^(_?)Async(?=[A-Z])", r"\1", name)


def _unwrap_awaitable(source: str) -> str:
    """Replaces `Awaitable[T]`, and `T | Awaitable[T]`, with `T`."""
    while (found := re.search(r"\bAwaitable\[", source)) is not None:
        depth, at = 1, found.end()
        while depth > 0:
            depth += {"[": 1, "]": -1}.get(source[at], 0)
            at += 1
        source = source[: found.start()] + source[found.end() : at - 1] + source[at:]
    return re.sub(r"\b(\w+) \| \1\b", r"\1", source)
