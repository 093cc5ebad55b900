"""The few things that have nothing in common with their asynchronous counterparts in `_async/_io.py`. Not generated."""

from __future__ import annotations

import time
from typing import Any, Callable, TypeVar

from ._pagination import Page

__all__ = ["Page", "ask", "paginate", "sleep"]

T = TypeVar("T")


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def ask(function: Callable[[], Any]) -> Any:
    return function()


def paginate(first: Callable[[], Page[T]]) -> Page[T]:
    return first()
