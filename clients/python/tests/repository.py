"""Files of the repository that the tests compare the client with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).resolve().parent.parent
ROOT = CLIENT.parent.parent


def read_json(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


METHODS: dict[str, str] = read_json("clients/methods.json")


def operations() -> dict[str, dict[str, Any]]:
    """Operations of docs/openapi.json by id, each with its `verb` and `path`."""
    document = read_json("docs/openapi.json")
    return {
        operation["operationId"]: {**operation, "verb": verb.upper(), "path": path}
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
    }
