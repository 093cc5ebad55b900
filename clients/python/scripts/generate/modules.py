"""The text of the generated modules. `ruff` formats it and removes unused imports."""

from __future__ import annotations

import re
import textwrap
from textwrap import indent

from .operations import EXTENDED, Argument, Operation
from .schemas import Types, pascal

CLASS_NAMES = {"me": "Myself"}
"""Names of resource classes whose default name is that of a type."""

LIST_NAMES = {"RunSourceType": "RUN_SOURCES", "TaskStatus": "TASK_STATUSES"}
"""Names of lists that do not follow from the names of their types."""

WIDTH = 105
"""The maximum length of a docstring's line."""

HEADER = '"""Generated from docs/openapi.json by scripts/generate: do not edit."""\n\n'

TYPES_IMPORTS = """from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

from pydantic import Discriminator, Tag
from typing_extensions import Annotated, Literal, get_args

from ._models import BaseModel, Timestamp, kind_of

"""

PARAMS_IMPORTS = """from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Required, TypedDict

"""

RESOURCE_IMPORTS = """from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._decode import Shape
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw
"""


def types_module(types: Types) -> str:
    # pydantic resolves names when it builds a class, so a class comes after those that it references.
    lists = [
        f'{list_name(name)}: Tuple[{name}, ...] = get_args({name})\n"""The values of `{name}`."""\n'
        for name in types.literals
    ]
    return HEADER + TYPES_IMPORTS + "\n".join([*types.literals.values(), *lists, *types.responses.values()])


def list_name(type_name: str) -> str:
    """`RunState` → `RUN_STATES`, `FollowupPolicy` → `FOLLOWUP_POLICIES`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type_name).upper()
    return LIST_NAMES.get(type_name) or (words[:-1] + "IES" if words.endswith("Y") else words + "S")


def params_module(types: Types) -> str:
    names = sorted(types.literals)
    enums = f"from .types import {', '.join(names)}\n\n" if names else ""
    return HEADER + PARAMS_IMPORTS + enums + "\n".join(types.requests.values())


def resource_class(resource: str) -> str:
    """`identities.keys` → `IdentityKeys`, `harness_support` → `HarnessSupport`."""
    *parents, last = resource.split(".")
    singular = [re.sub("s$", "", re.sub("ies$", "y", parent)) for parent in parents]
    return CLASS_NAMES.get(resource) or "".join(pascal(part) for part in [*singular, last])


def module_name(resource: str) -> str:
    *_, last = resource.split(".")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", resource_class(resource)).lower() if "." in resource else last


def resource_module(resource: str, operations: list[Operation], children: list[str], types: Types) -> str:
    name = resource_class(resource)
    own = f"Async{name}Base" if resource in EXTENDED else f"Async{name}"
    methods = "\n".join(indent(_method(operation, types), "    ") for operation in operations)
    accessors = "\n".join(indent(_accessor(child), "    ") for child in children)
    raw = "".join(f"        self.{each.method} = to_raw(raw.{each.method})\n" for each in operations)
    imports = "".join(f"from .{module_name(child)} import Async{resource_class(child)}\n" for child in children)
    return (
        HEADER
        + RESOURCE_IMPORTS
        + imports
        + f"from ...types import {', '.join(sorted({*types.responses, *types.literals}))}\n"
        + f"from ...params import {', '.join(sorted(types.requests))}\n\n"
        + _shapes(operations, types)
        + f"\n\nclass {own}(AsyncResource):\n"
        + f"    @cached_property\n    def with_raw_response(self) -> Async{name}WithRawResponse:\n"
        + '        """The same methods, returning the raw response: status, headers and value."""\n'
        + f"        return Async{name}WithRawResponse({own}(self._client, _raw=True))\n\n"
        + accessors
        + methods
        + f"\n\nclass Async{name}WithRawResponse:\n"
        + f"    def __init__(self, raw: {own}) -> None:\n"
        + raw
    )


def index_module(resources: dict[str, str]) -> str:
    """The mix-in with the resources of a client and their descriptions."""
    imports = "".join(
        f"from .._{each} import Async{resource_class(each)}\n"
        if each in EXTENDED
        else f"from .{module_name(each)} import Async{resource_class(each)}\n"
        for each in resources
    )
    accessors = "\n".join(indent(_accessor(each, "self", about), "    ") for each, about in resources.items())
    return (
        HEADER
        + "from __future__ import annotations\n\nfrom functools import cached_property\n\n"
        + "from .._transport import AsyncTransport\n"
        + imports
        + "\n\nclass AsyncResources(AsyncTransport):\n"
        + '    """Groups of operations, as attributes of a client."""\n\n'
        + accessors
    )


def _accessor(resource: str, client: str = "self._client", about: str = "") -> str:
    name = f"Async{resource_class(resource)}"
    last = resource.rsplit(".", 1)[-1]
    docstring = f'    """{about}"""\n' if about else ""
    return f"@cached_property\ndef {last}(self) -> {name}:\n{docstring}    return {name}({client})\n"


def _shapes(operations: list[Operation], types: Types) -> str:
    """Types that are not classes are parsed by a shape."""
    kinds = dict.fromkeys(each.response_type for each in operations if _is_no_class(each.response_type, types))
    return "".join(f"{_constant(kind)}: Shape[{kind}] = Shape({kind})\n" for kind in kinds)


def _is_no_class(kind: str, types: Types) -> bool:
    return "[" in kind or (kind in types.responses and not types.responses[kind].startswith("class "))


def _constant(kind: str) -> str:
    return "_" + re.sub(r"_+", "_", re.sub(r"\W+|(?<=[a-z])(?=[A-Z])", "_", kind)).strip("_").upper()


POSITIONAL = {"createRun": ["prompt"]}
"""Members of a body that can be given without their name, by operation."""


def _method(operation: Operation, types: Types) -> str:
    arguments = ["self", *(f"{each.name}: str" for each in operation.in_path)]
    positional = [each for each in operation.keywords if each.name in POSITIONAL.get(operation.id, [])]
    keywords = [each for each in operation.keywords if each not in positional]
    arguments += [_declared(each) for each in positional]
    if keywords:
        arguments += ["*", *(_declared(each) for each in keywords)]
    arguments.append("**options: Unpack[RequestOptions]")
    pages = operation.items is not None
    returned = f"AsyncPaginator[{operation.items[1]}]" if operation.items else operation.response_type
    head = f"{'' if pages else 'async '}def {operation.method}({', '.join(arguments)}) -> {returned}:\n"
    return head + indent(_method_docstring(operation) + _method_body(operation, types), "    ")


def _declared(argument: Argument) -> str:
    if argument.required:
        return f"{argument.name}: {argument.kind}"
    kind = argument.kind[len("Union[") : -1] if argument.kind.startswith("Union[") else argument.kind
    return f"{argument.name}: Union[{kind}, NotGiven] = NOT_GIVEN"


def _method_docstring(operation: Operation) -> str:
    details = operation.description[len(operation.summary) :].strip()
    paragraphs = [operation.summary, *([details] if details else [])]
    lines = [line for text in paragraphs for line in [*textwrap.wrap(text, WIDTH), ""]]
    lines.append(f"`{operation.verb} {operation.path}`")
    described = [each for each in [*operation.in_path, *operation.keywords] if each.description]
    if described:
        lines += ["", "Args:", *(f"    {each.name}: {each.description}" for each in described)]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""\n'


def _method_body(operation: Operation, types: Types) -> str:
    call = [_path(operation)]
    if operation.items is not None:
        member, _ = operation.items
        call += [
            f"cast_to={operation.response_type}",
            f"items=lambda response: response.{member}",
            f"query={_query(operation)}",
        ]
        return f"return self._list({', '.join([*call, 'options=options'])})\n"
    call.insert(0, f'"{operation.verb}"')
    call.append(f"cast_to={_cast_to(operation.response_type, types)}")
    if operation.in_query or operation.fixed_query:
        call.append(f"query={_query(operation)}")
    if operation.in_body is not None:
        call.append(f"body={_members(operation.in_body)}")
    if operation.in_headers:
        call.append(f"headers={_members(operation.in_headers)}")
    return f"return await self._call({', '.join([*call, 'options=options'])})\n"


def _cast_to(kind: str, types: Types) -> str:
    if kind == "None":
        return "type(None)"
    return _constant(kind) if _is_no_class(kind, types) else kind


def _path(operation: Operation) -> str:
    if not operation.in_path:
        return f'"{operation.path}"'
    template = operation.path
    for argument in operation.in_path:
        template = template.replace("{" + argument.wire + "}", "{" + argument.name + "}")
    values = ", ".join(f"{each.name}={each.name}" for each in operation.in_path)
    return f'_wire.path("{template}", {values})'


def _query(operation: Operation) -> str:
    fixed = [f'"{name}": {value!r}' for name, value in operation.fixed_query.items()]
    return "{" + ", ".join([*fixed, *(f'"{each.wire}": {each.name}' for each in operation.in_query)]) + "}"


def _members(arguments: list[Argument]) -> str:
    return "{" + ", ".join(f'"{each.wire}": {each.name}' for each in arguments) + "}"
