"""The tests run against the installed wheel."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from repository import CLIENT

import runyard


def test_is_the_installed_wheel() -> None:
    assert "site-packages" in Path(runyard.__file__).parts
    assert metadata.version("runyard") == runyard.__version__


def test_ships_its_types() -> None:
    files = [str(file) for file in metadata.files("runyard") or []]
    assert "runyard/py.typed" in files
    assert any(file.endswith("LICENSE") for file in files)
    assert [
        file for file in files if not file.startswith(("runyard/", f"runyard-{runyard.__version__}.dist-info"))
    ] == []


def test_has_few_dependencies() -> None:
    needed = {requirement.split(">")[0] for requirement in metadata.requires("runyard") or []}
    assert {name.split("<")[0] for name in needed} == {"anyio", "httpx", "pydantic", "typing-extensions"}


def test_is_measured_against_bare_httpx() -> None:
    script = [sys.executable, str(CLIENT / "bench/overhead.py"), "20"]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"httpx \d+ µs, runyard \d+ µs .*\nratio \d+\.\d\d\n", printed)


def test_lists_its_exports() -> None:
    assert [name for name in runyard.__all__ if not hasattr(runyard, name)] == []
    assert sorted(runyard.__all__, key=str.casefold) == sorted(set(runyard.__all__), key=str.casefold)
