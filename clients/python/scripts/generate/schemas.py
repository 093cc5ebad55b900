"""Converts JSON Schema to Python types: pydantic models for responses, TypedDicts for requests.

Response types are lenient (unknown values of an enumeration, unknown kinds of a union), request types are exact.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from typing import Any, Literal

Schema = dict[str, Any]
Mode = Literal["response", "request"]

INLINE_NAMES = {
    "GetTranscript": "TranscriptLocation",
    "GetRawTranscript": "RawTranscriptLocation",
    "GetResponse": "RunResponse",
    "GetOpenapi": "Dict[str, Any]",
}
"""Names of inline schemas whose default name would be misleading."""


@dataclass
class Types:
    """The types found so far. `responses` and `requests` are the bodies of types.py and params.py, by name."""

    components: dict[str, Schema]
    responses: dict[str, str] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    literals: dict[str, str] = field(default_factory=dict)

    def of(self, schema: Schema, mode: Mode, place: str) -> str:
        """Returns the expression for a schema. `place` names an inline schema."""
        if "$ref" in schema:
            return self._component(schema["$ref"].rsplit("/", 1)[1], mode)
        if "const" in schema:
            return _constant(schema["const"], mode)
        if "enum" in schema:
            return _lenient(_literal(schema["enum"]), mode)
        variants = schema.get("oneOf") or schema.get("anyOf")
        if variants and "properties" not in schema:
            return self._union(variants, mode, place)
        return self._plain(schema, mode, place)

    def _plain(self, schema: Schema, mode: Mode, place: str) -> str:
        kind = schema.get("type")
        if kind == "string":
            return self._string(schema, mode)
        if kind == "array":
            item = self.of(schema.get("items", {}), mode, _singular(place))
            return f"List[{item}]" if mode == "response" else f"Sequence[{item}]"
        if kind == "object":
            return self._object(schema, mode, place)
        return {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}.get(kind or "", "Any")

    def _string(self, schema: Schema, mode: Mode) -> str:
        if schema.get("format") == "date-time":
            return "Timestamp" if mode == "response" else "Union[str, datetime]"
        if schema.get("contentEncoding") == "base64" and mode == "request":
            return "Union[str, bytes]"
        return "str"

    def _object(self, schema: Schema, mode: Mode, place: str) -> str:
        mapping = "Dict" if mode == "response" else "Mapping"
        if schema.get("properties"):
            return self.define(place, schema, mode)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and extra:
            return f"{mapping}[str, {self.of(extra, mode, place + 'Value')}]"
        return f"{mapping}[str, Any]"

    def _component(self, name: str, mode: Mode) -> str:
        schema = self.components[name]
        if "enum" in schema:
            if name not in self.literals:
                self.literals[name] = f"{name} = {_literal(schema['enum'])}{_docstring(schema, '')}\n"
            return _lenient(name, mode)
        if schema.get("type") == "object" and (schema.get("properties") or name == "Empty"):
            return self.define(name, schema, mode)
        if schema.get("oneOf") and mode == "response":
            if name not in self.responses:
                self.responses[name] = ""
                union = self.of(schema, mode, name)
                self.responses.pop(name)
                self.responses[name] = f"{name} = {union}{_docstring(schema, '')}\n"
            return name
        return self.of(schema, mode, name)

    def define(self, name: str, schema: Schema, mode: Mode) -> str:
        """Defines an object's class, once, after the classes that it references."""
        if mode == "request":
            name += "Param"
        known = self.responses if mode == "response" else self.requests
        if name in known:
            return f'"{name}"' if known[name] == "" else name
        known[name] = ""
        required = set(schema.get("required", []))
        inner = name.removesuffix("Param")
        lines = [
            self._member(member, property_, member in required, mode, inner + pascal(member))
            for member, property_ in schema.get("properties", {}).items()
        ]
        base = "BaseModel" if mode == "response" else "TypedDict, total=False"
        docstring = _docstring(schema, "    ")
        body = docstring + "".join(lines) if lines or docstring else "    pass\n"
        known.pop(name)
        known[name] = f"class {name}({base}):\n{body}\n"
        return name

    def _member(self, name: str, schema: Schema, required: bool, mode: Mode, place: str) -> str:
        kind = self.of(schema, mode, place)
        if mode == "request":
            declared = f"Required[{kind}]" if required else kind
            return f"    {identifier(name)}: {declared}\n{_docstring(schema, '    ')}"
        if required:
            return f"    {identifier(name)}: {kind}\n{_docstring(schema, '    ')}"
        optional = kind if kind.startswith("Optional[") or kind == "Any" else f"Optional[{kind}]"
        return f"    {identifier(name)}: {optional} = None\n{_docstring(schema, '    ')}"

    def _union(self, variants: list[Schema], mode: Mode, place: str) -> str:
        others = [variant for variant in variants if variant.get("type") != "null"]
        if len(others) < len(variants):
            inner = self.of(others[0], mode, place) if len(others) == 1 else self._union(others, mode, place)
            return f"Optional[{inner}]"
        tag = _tag(others)
        if tag is None:
            kinds = [self.of(variant, mode, _variant_place(variant, place)) for variant in others]
            return f"Union[{', '.join(dict.fromkeys(kinds))}]" if len(set(kinds)) > 1 else kinds[0]
        values = [variant["properties"][tag]["const"] for variant in others]
        classes = [self.define(pascal(value.lower()) + place, variant, mode) for value, variant in zip(values, others)]
        if mode == "request":
            return f"Union[{', '.join(classes)}]" if len(classes) > 1 else classes[0]
        unknown = f"Unknown{place}"
        self.responses[unknown] = (
            f"class {unknown}(BaseModel):\n"
            f'    """A kind that this version does not know; its members are there all the same."""\n\n'
            f"    {tag}: str\n\n"
        )
        tagged = [f'Annotated[{cls}, Tag("{value}")]' for cls, value in zip(classes, values)]
        tagged.append(f'Annotated[{unknown}, Tag("")]')
        return f'Annotated[Union[{", ".join(tagged)}], Discriminator(kind_of("{tag}", {values!r}))]'


def identifier(name: str) -> str:
    """Converts a name of the API to a name in Python."""
    if not name.isidentifier():
        raise ValueError(f"{name} is not a name in Python: give the generator a rule for it")
    return name + "_" if keyword.iskeyword(name) else name


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\-. ]", name))


def _singular(name: str) -> str:
    return name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") else name


def _literal(values: list[Any]) -> str:
    return f"Literal[{', '.join(repr(value) for value in values)}]"


def _lenient(literal: str, mode: Mode) -> str:
    return f"Union[{literal}, str]" if mode == "response" else literal


def _constant(value: object, mode: Mode) -> str:
    if isinstance(value, bool):
        return "bool" if mode == "response" else f"Literal[{value!r}]"
    return f"Literal[{value!r}]"


def _tag(variants: list[Schema]) -> str | None:
    """Returns the member whose fixed value distinguishes the variants of a union."""
    fixed = [
        {name for name, schema in variant.get("properties", {}).items() if isinstance(schema.get("const"), str)}
        for variant in variants
    ]
    common = set.intersection(*fixed) if fixed else set()
    return min(common) if common else None


def _variant_place(variant: Schema, place: str) -> str:
    """Names a variant without a tag by its first required member."""
    if variant.get("type") == "object" and variant.get("properties"):
        return f"{place}By{pascal(variant.get('required', ['value'])[0])}"
    return place


def _docstring(schema: Schema, indent: str) -> str:
    text = schema.get("description", "").strip()
    if text == "":
        return "\n" if indent == "" else ""
    quoted = text.replace("\\", "\\\\").replace('"""', "'''")
    quoted += " " if quoted.endswith('"') else ""
    return f'\n{indent}"""{quoted}"""\n' if indent == "" else f'{indent}"""{quoted}"""\n\n'
