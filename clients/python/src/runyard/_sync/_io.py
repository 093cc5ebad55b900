"""Helpers that differ from their asynchronous counterparts in `_async/_io.py`. Not generated."""

from __future__ import annotations

import time
from typing import Any, Callable, TypeVar

from ._pagination import Page

__all__ = ["Page", "invoke", "paginate", "sleep"]

T = TypeVar("T")


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def invoke(function: Callable[[], Any]) -> Any:
    return function()


def paginate(first: Callable[[], Page[T]]) -> Page[T]:
    return first()
