"""Generates types, parameters, resources, the synchronous client and api.md.

python scripts/generate            writes the files
python scripts/generate --check    writes nothing, lists the files that differ, exits 1 if there are any
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from generate import api_md, modules, unasync
from generate.operations import Operation, read_operations
from generate.schemas import Types

HERE = Path(__file__).resolve().parent.parent.parent
REPOSITORY = HERE.parent.parent
PACKAGE = Path("src/runyard")


def main() -> int:
    made = generate()
    if "--check" not in sys.argv[1:]:
        write(made)
        return 0
    stale = [path for path, text in made.items() if not (HERE / path).exists() or (HERE / path).read_text() != text]
    stale += surplus(made)
    for path in stale:
        print(f"clients/python/{path} is out of date: run `python clients/python/scripts/generate`")
    return 1 if stale else 0


def generate() -> dict[Path, str]:
    """Returns every generated file, formatted, by its path in clients/python."""
    document = json.loads((REPOSITORY / "docs/openapi.json").read_text())
    methods = json.loads((REPOSITORY / "clients/methods.json").read_text())
    types = Types(document["components"]["schemas"])
    operations = read_operations(document, methods, types)
    files = {PACKAGE / "types.py": modules.types_module(types), PACKAGE / "params.py": modules.params_module(types)}
    tags = {tag["name"]: tag.get("description", "") for tag in document["tags"]}
    for path, text in resource_files(operations, types, tags).items():
        files[PACKAGE / "_async/resources" / path] = text
    with tempfile.TemporaryDirectory() as folder:
        formatted = format_files(files, Path(folder))
        asynchronous = {
            path.relative_to(HERE): path.read_text()
            for path in (HERE / PACKAGE / "_async").glob("*.py")
            if path.name != "_io.py"
        }
        asynchronous.update({path: text for path, text in formatted.items() if "_async" in path.parts})
        synchronous = {
            Path(str(path).replace("_async", "_sync")): mark(path, unasync.to_sync(text))
            for path, text in asynchronous.items()
        }
        formatted.update(format_files(synchronous, Path(folder)))
    formatted[Path("api.md")] = api_md.write(operations, tags, HERE / PACKAGE / "_async")
    return formatted


def resource_files(operations: list[Operation], types: Types, tags: dict[str, str]) -> dict[str, str]:
    grouped: dict[str, list[Operation]] = {}
    for operation in operations:
        grouped.setdefault(operation.resource, []).append(operation)
    top = list(dict.fromkeys(resource.split(".")[0] for resource in grouped))
    about = {resource: tags[grouped[resource][0].tag] for resource in top if resource in grouped}
    files = {"__init__.py": modules.index_module({resource: about.get(resource, "") for resource in top})}
    for resource in dict.fromkeys([*top, *grouped]):
        children = [each for each in grouped if each.startswith(resource + ".")]
        files[modules.module_name(resource) + ".py"] = modules.resource_module(
            resource, grouped.get(resource, []), children, types
        )
    return files


def mark(path: Path, text: str) -> str:
    """Adds a comment with the source, unless the text already says that it is generated."""
    if text.startswith('"""Generated'):
        return text
    return f"# Generated from {path.as_posix()} by scripts/generate: do not edit.\n{text}"


def format_files(files: dict[Path, str], folder: Path) -> dict[Path, str]:
    shutil.copy(HERE / "pyproject.toml", folder)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    paths = [str(folder / path) for path in files]
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "check", "--quiet", "--fix", "--select", "F401,I", *paths], check=True, cwd=folder)
    subprocess.run([*ruff, "format", "--quiet", *paths], check=True, cwd=folder)
    return {path: (folder / path).read_text() for path in files}


def surplus(made: dict[Path, str]) -> list[Path]:
    """Returns the files of resources that no longer exist."""
    there = [*(HERE / PACKAGE).glob("_sync/**/*.py"), *(HERE / PACKAGE).glob("_async/resources/*.py")]
    relative = [path.relative_to(HERE) for path in there if path.name != "_io.py"]
    return [path for path in relative if path not in made]


def write(made: dict[Path, str]) -> None:
    for path in surplus(made):
        (HERE / path).unlink()
    for path, text in made.items():
        (HERE / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / path).write_text(text)


sys.exit(main())
