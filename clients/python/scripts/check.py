"""Runs all checks of the Python client. Requires only Python 3.10 or newer with venv.

    python3 scripts/check.py           generated files, format, lint, types, the wheel, and its tests
    python3 scripts/check.py --live    the README's snippets and more, against RUNYARD_BASE_URL with RUNYARD_API_KEY
    python3 scripts/check.py --environment
                                       creates the environment of the tests if there is none, and prints its Python
    python3 scripts/check.py --generate
                                       writes the generated files; `npm run docs` runs this
    --report FILE                      writes the results as JSON, for `npm run test:full`

The tests run against the built wheel, each in its own environment: with this Python, and, if installed, with the oldest
Python and the oldest dependencies that pyproject.toml allows, and with the newest Python. Environments are kept in
dist/python-client until their requirements change. A second call waits for the first.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).resolve().parent.parent
WORK = CLIENT.parent.parent / "dist" / "python-client"
OLDEST, NEWEST = (3, 9), (3, 13)

report: dict[str, list[dict[str, Any]]] = {"checks": [], "suites": []}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--environment", action="store_true")
    parser.add_argument("--generate", action="store_true")
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    try:
        with only_call():
            if arguments.environment:
                ok = show_environment()
            else:
                ok = generate() if arguments.generate else live() if arguments.live else everything()
    finally:
        if arguments.report is not None:
            arguments.report.write_text(json.dumps(report))
    return 0 if ok else 1


@contextmanager
def only_call() -> Iterator[None]:
    """Waits until no other call uses the environments of this checkout."""
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def everything() -> bool:
    environments = {"": (sys.executable, ["test", "tools"])}
    for (major, minor), requirements in ((OLDEST, ["lowest"]), (NEWEST, ["test"])):
        python = find_python(major, minor)
        if python is not None:
            environments[f"{major}.{minor}"] = (python, requirements)
    with ThreadPoolExecutor(2) as pool:
        made = {
            name: pool.submit(environment, name or "main", python, requirements)
            for name, (python, requirements) in environments.items()
        }
        main_python = made[""].result()
        if main_python is None:
            return False
        statics = [pool.submit(check, name, [main_python, *command]) for name, command in static_checks().items()]
        wheel = build(main_python)
        ok = all(each.result() for each in statics)
        if wheel is None:
            return False
        pythons = {name: future.result() for name, future in made.items()}
        tests = [pool.submit(suite, name, python, wheel) for name, python in pythons.items()]
        return all(each.result() for each in tests) and ok


def generate() -> bool:
    python = environment("main", sys.executable, ["test", "tools"])
    return python is not None and check("generated files written", [python, "scripts/generate"])


def show_environment() -> bool:
    python = environment("main", sys.executable, ["test", "tools"])
    print(python or "", flush=True)
    return python is not None


def live() -> bool:
    """Tests README.md and the client against a running service."""
    python = environment("main", sys.executable, ["test", "tools"])
    wheel = build(python) if python is not None else None
    if python is None or wheel is None:
        return False
    return install(python, wheel) and run_tests("a service", python, "live")


def static_checks() -> dict[str, list[str]]:
    return {
        "generated files": ["scripts/generate", "--check"],
        "lint": ["-m", "ruff", "check", "--no-cache", "."],
        "format": ["-m", "ruff", "format", "--no-cache", "--check", "."],
        "types": ["-m", "mypy", "--cache-dir", str(WORK / "mypy"), "src"],
    }


def suite(name: str, python: str | None, wheel: Path) -> bool:
    """Runs the tests in one environment; in the main one, also checks the types of code that uses the wheel."""
    if python is None or not install(python, wheel):
        return False
    ok = run_tests(name or "this Python", python, "tests")
    return (name != "" or check_users_types(python)) and ok


def check_users_types(python: str) -> bool:
    """Checks the snippets of README.md and the tests with mypy --strict against the wheel."""
    snippets = WORK / "snippets"
    shutil.rmtree(snippets, ignore_errors=True)
    snippets.mkdir()
    readme = (CLIENT / "README.md").read_text(encoding="utf-8")
    for number, snippet in enumerate(re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)):
        (snippets / f"snippet_{number}.py").write_text(snippet, encoding="utf-8")
    folders = [str(snippets), "tests", "live", "bench"]
    return check(
        "types of README.md and the tests", [python, "-m", "mypy", "--cache-dir", str(WORK / "mypy"), *folders]
    )


def environment(name: str, python: str, requirements: list[str]) -> str | None:
    """Returns the Python of an environment with these requirements, or `None` if its installation fails."""
    files = [CLIENT / "requirements" / f"{each}.txt" for each in requirements]
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in files) + python.encode()).hexdigest()
    folder = WORK / name
    marker = folder / "complete"
    made = str(folder / "bin" / "python")
    if marker.exists() and marker.read_text() == wanted:
        return made
    shutil.rmtree(folder, ignore_errors=True)
    options = [option for file in files for option in ("-r", str(file))]
    pip = [made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    commands = [[python, "-m", "venv", str(folder)], [*pip, *options]]
    if not all(check(f"install {name}", command) for command in commands):
        return None
    marker.write_text(wanted)
    return made


def build(python: str) -> Path | None:
    folder = WORK / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    if not check("build", [python, "-m", "hatchling", "build", "-d", str(folder)]):
        return None
    return next(folder.glob("*.whl"))


def install(python: str, wheel: Path) -> bool:
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    return check("install the wheel", [*pip, "--force-reinstall", str(wheel)])


def run_tests(name: str, python: str, folder: str) -> bool:
    """Runs pytest and records its counts. A suite without tests, or without a report, has failed."""
    results = WORK / f"{name.replace(' ', '-')}.xml"
    results.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={results}", folder]
    begin = time.monotonic()
    done = run(command)
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    if results.exists():
        for each in xml.etree.ElementTree.parse(results).iter("testsuite"):
            counts = {member: int(each.get(member, "0")) for member in counts}
    report["suites"].append({"name": name, "exit_code": done.returncode, **counts})
    failed = done.returncode != 0 or counts["tests"] == 0
    say(f"{folder} with {name}: {counts['tests']} tests", not failed, begin, done.stdout)
    return not failed


def check(name: str, command: list[str]) -> bool:
    begin = time.monotonic()
    done = run(command)
    ok = done.returncode == 0
    report["checks"].append({"name": name, "ok": ok})
    say(name, ok, begin, done.stdout)
    return ok


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        command,
        cwd=CLIENT,
        env={**clean, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def say(name: str, ok: bool, begin: float, output: str) -> None:
    seconds = f"({time.monotonic() - begin:.1f} s)"
    print(f"{'ok    ' if ok else 'FAILED'} python client: {name} {seconds}", flush=True)
    if not ok:
        print(output, flush=True)


def find_python(major: int, minor: int) -> str | None:
    """Returns a working Python of this version from the path or pyenv, unless it is the version running this script."""
    if sys.version_info[:2] == (major, minor):
        return None
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [f"python{major}.{minor}", *map(str, sorted(pyenv.glob(f"versions/{major}.{minor}.*/bin/python")))]
    return next((each for each in found if shutil.which(each) and works(each, (major, minor))), None)


def works(python: str, version: tuple[int, int]) -> bool:
    program = f"import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != {version})"
    return run([python, "-c", program]).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
