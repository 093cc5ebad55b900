"""Mutation testing of the hand-written part: `npm run mutate -- clients/python`.

mutmut works on a copy in dist/python-client/mutation, which it keeps, so that a second run tries only what changed.
_sync is made of _async, and the models and the methods are made of docs/openapi.json: neither is mutated.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from check import CLIENT, WORK, environment

ROOT = CLIENT.parent.parent
SETTINGS = """

[tool.mutmut]
source_paths = ["src/runyard"]
only_mutate = ["src/runyard/_*.py", "src/runyard/errors.py", "src/runyard/_async/_*.py"]
do_not_mutate = ["src/runyard/_sync/*", "src/runyard/_async/resources/*", "src/runyard/_version.py"]
also_copy = ["README.md", "api.md"]
pytest_add_cli_args = ["--ignore=tests/test_package.py"]
use_git_change_detection = false
"""


def main() -> int:
    python = environment("mutation", sys.executable, ["test", "mutation"])
    if python is None:
        return 1
    project = copy_project(WORK / "mutation-tree")
    mutmut = [python, "-m", "mutmut"]
    done = subprocess.run([*mutmut, "run", "--max-children", "1"], cwd=project, stdout=subprocess.DEVNULL)
    shown = subprocess.run([*mutmut, "results", "--all", "true"], cwd=project, capture_output=True, text=True)
    statuses = dict(line.strip().split(": ") for line in shown.stdout.splitlines() if ": " in line)
    survivors = [name for name, status in statuses.items() if status in ("survived", "no tests")]
    caught = sum(status in ("killed", "timeout") for status in statuses.values())
    for name in survivors:
        print(subprocess.run([*mutmut, "show", name], cwd=project, capture_output=True, text=True).stdout)
    if done.returncode != 0 or caught == 0:
        print("mutmut did not end as it should")
        return 1
    tried = caught + len(survivors)
    print(f"{100 * caught / tried:.1f} % ({caught} of {tried} caught)  clients/python")
    return 1 if survivors else 0


def copy_project(tree: Path) -> Path:
    """The client as mutmut works on it, next to what its tests read two folders above theirs."""
    project = tree / "python"
    project.mkdir(parents=True, exist_ok=True)
    for name in ("clients", "docs", "test"):
        link = tree / name
        if not link.is_symlink():
            link.symlink_to(ROOT / name)
    for name in ("src", "tests"):
        shutil.rmtree(project / name, ignore_errors=True)
        shutil.copytree(CLIENT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "api.md", "LICENSE"):
        shutil.copy(CLIENT / name, project / name)
    settings = (CLIENT / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(settings + SETTINGS)
    return project


if __name__ == "__main__":
    sys.exit(main())
