"""api.md: every method of the client, the generated ones and those written by hand."""

from __future__ import annotations

import ast
from pathlib import Path

from .operations import EXTENDED, Operation
from .unasync import to_sync

INTRODUCTION = """# Methods

Every method of `Runyard`; `AsyncRunyard` has the same, to be awaited. Types of answers are in `runyard.types`, types of
arguments in `runyard.params`. All methods take the options `timeout`, `max_retries`, `idempotency_key`,
`extra_headers`, `extra_query` and `extra_body` too. A `Page[T]` is iterated through to the last page. Written by
`python scripts/generate`; a test compares it with the code.
"""


def write(operations: list[Operation], tags: dict[str, str], package: Path) -> str:
    parts = [INTRODUCTION]
    for resource in dict.fromkeys(operation.resource for operation in operations):
        own = [each for each in operations if each.resource == resource]
        lines = [_operation(each) for each in own]
        about = "" if "." in resource else f"{tags[own[0].tag]}\n\n"
        if resource in EXTENDED:
            lines += _by_hand(package / f"_{resource}.py", resource)
        parts.append(f"## {resource}\n\n{about}| method | request | what it does |\n|---|---|---|\n" + "".join(lines))
    return "\n".join(parts)


def _operation(operation: Operation) -> str:
    required = [each.name for each in operation.in_path]
    named = [each.name for each in operation.keywords]
    arguments = ", ".join([*required, *(["*", *named] if named else [])])
    answer = f"Page[{operation.items[1]}]" if operation.items else operation.answer
    request = f"`{operation.verb} {operation.path}`"
    return _row(operation.resource, operation.method, arguments, answer, request, operation.summary)


def _row(resource: str, method: str, arguments: str, answer: str, request: str, summary: str) -> str:
    return f"| `{resource}.{method}({arguments})` → `{answer}` | {request} | {summary} |\n"


def _by_hand(path: Path, resource: str) -> list[str]:
    rows = []
    for node in ast.parse(to_sync(path.read_text())).body:
        for method in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                summary = (ast.get_docstring(method) or "").split("\n\n")[0].replace("\n", " ")
                rows.append(_row(resource, method.name, _arguments(method.args), _answer(method), "", summary))
    return rows


def _arguments(arguments: ast.arguments) -> str:
    named = [each.arg for each in arguments.kwonlyargs]
    parts = [*(each.arg for each in arguments.args[1:]), *(["*", *named] if named else [])]
    if arguments.kwarg is not None and arguments.kwarg.arg != "options":
        parts.append(f"**{arguments.kwarg.arg}")
    return ", ".join(parts)


def _answer(method: ast.FunctionDef) -> str:
    answer = ast.unparse(method.returns) if method.returns is not None else "None"
    is_context = any(ast.unparse(each) == "contextmanager" for each in method.decorator_list)
    return answer.replace("Iterator", "ContextManager") if is_context else answer
