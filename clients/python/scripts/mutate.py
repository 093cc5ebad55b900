"""Mutation testing of the hand-written part: `npm run lab -- mutate clients/python --sample 10 --minutes 10`.

mutmut works on a copy in dist/python-client/mutation-tree, which is kept, so that a second run tries only what
changed. The hand-written asynchronous modules are mutated in their generated synchronous form, which differs only by
`await` and which most tests use. Modules generated from docs/openapi.json are not mutated.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from check import CLIENT, WORK, environment

ROOT = CLIENT.parent.parent
SETTINGS = r"""

[tool.mutmut]
source_paths = ["src/runyard"]
only_mutate = ["src/runyard/_*.py", "src/runyard/errors.py"]
do_not_mutate = [
  "src/runyard/_async/*",
  "src/runyard/_sync/resources/*",
  "src/runyard/_version.py",
]
# Types, and errors whose only argument is a text for people.
do_not_mutate_patterns = ['\bcast\(', '\braise \w+Error\(f?"[^"]*"\)']
also_copy = ["README.md", "api.md"]
# These test the wheel and memory use.
pytest_add_cli_args = [
  "--ignore=tests/test_package.py",
  "--deselect=tests/test_faults.py::TestEvents::test_of_a_hundred_thousand_come_in_order_and_in_constant_memory",
]
use_git_change_detection = false
timeout_multiplier = 3.0
timeout_constant = 3.0
"""

EQUIVALENT = [
    # The names of headers, methods and encodings are the same in any case.
    (r"headers|[\"'](GET|utf-8|ascii)[\"']", lambda before, after: before.lower() == after.lower()),
    # A text with a space is for people.
    (r"[\"'][^\"']* [^\"']*[\"']", lambda before, after: plain(before) == plain(after) != before),
]
DIFFS = """
import json, sys
from mutmut.mutation.diff_apply import get_diff_for_mutant
print(json.dumps({name: get_diff_for_mutant(name) for name in json.load(sys.stdin)}))
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=100, help="percentage of the mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the random choice")
    parser.add_argument("--minutes", type=float, default=1440, help="stops after this time with the results so far")
    arguments = parser.parse_args()
    ends = time.monotonic() + 60 * arguments.minutes
    python = environment("mutation", sys.executable, ["test", "mutation"])
    if python is None:
        return 1
    project = copy_project(WORK / "mutation-tree")
    mutmut = [python, "-m", "mutmut"]
    # No mutant has this name: creates the mutants and finds out which tests run which function.
    subprocess.run([*mutmut, "run", "none", "--max-children", "1"], cwd=project, capture_output=True)
    forget_results(project)
    chosen = choose_mutants(project, arguments.sample, arguments.seed)
    print(f"seed {arguments.seed}: {len(chosen)} mutants", flush=True)
    ended = run_for([*mutmut, "run", *chosen, "--max-children", "1"], project, ends - time.monotonic())
    shown = subprocess.run([*mutmut, "results", "--all", "true"], cwd=project, capture_output=True, text=True)
    lines = [line.strip().split(": ") for line in shown.stdout.splitlines() if ": " in line]
    statuses = {name: status for name, status in lines if name in chosen}
    missed = [name for name, status in statuses.items() if status in ("survived", "no tests")]
    caught = sum(status in ("killed", "timeout") for status in statuses.values())
    found = subprocess.run(
        [python, "-c", DIFFS], cwd=project, input=json.dumps(missed), capture_output=True, text=True, check=True
    )
    diffs = json.loads(found.stdout)
    survivors = {name: diff for name, diff in diffs.items() if not is_equivalent(diff)}
    for name, diff in survivors.items():
        print(f"survived: {name} ({statuses[name]})\n{changed_lines(diff)}\n")
    if caught == 0:
        print("mutmut did not catch any mutant")
        return 1
    tried = caught + len(survivors)
    equivalent = len(missed) - len(survivors)
    print(f"{100 * caught / tried:.1f} % ({caught} of {tried} caught, {equivalent} equivalent)  clients/python")
    if not ended:
        print(f"Not all mutants of clients/python: time is up after {caught + len(missed)} of {len(chosen)}.")
    return 1 if survivors else 0


def run_for(command: list[str], project: Path, seconds: float) -> bool:
    """Returns whether the command ended in time. mutmut keeps its results when it is interrupted."""
    with subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL) as process:
        try:
            process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            return False


def choose_mutants(project: Path, percent: int, seed: int) -> list[str]:
    """Chooses mutants of all files at random."""
    files = sorted(project.glob("mutants/src/**/*.meta"))
    names = [name for file in files for name in json.loads(file.read_text())["exit_code_by_key"]]
    return sorted(random.Random(seed).sample(names, -(-len(names) * percent // 100)))


def forget_results(project: Path) -> None:
    """Removes results of earlier runs, so that they do not count for mutants that this run has no time for."""
    for file in project.glob("mutants/src/**/*.meta"):
        results = json.loads(file.read_text())
        results["exit_code_by_key"] = dict.fromkeys(results["exit_code_by_key"])
        file.write_text(json.dumps(results))


def is_equivalent(diff: str) -> bool:
    before = "\n".join(line[1:] for line in changed_lines(diff).splitlines() if line.startswith("-"))
    after = "\n".join(line[1:] for line in changed_lines(diff).splitlines() if line.startswith("+"))
    return any(re.search(pattern, before) and is_same(before, after) for pattern, is_same in EQUIVALENT)


def changed_lines(diff: str) -> str:
    return "\n".join(line for line in diff.splitlines() if re.match(r"[-+](?![-+])", line))


def plain(code: str) -> str:
    """Removes texts with a space, whose mutants have another case or `XX` around them."""
    return re.sub(r"[\"'][^\"']* [^\"']*[\"']", "", code)


def copy_project(tree: Path) -> Path:
    """Copies the client for mutmut, next to links to the repository files that its tests read."""
    project = tree / "python"
    project.mkdir(parents=True, exist_ok=True)
    for name in ("clients", "docs", "test"):
        link = tree / name
        if not link.is_symlink():
            link.symlink_to(ROOT / name)
    for name in ("src", "tests"):
        shutil.rmtree(project / name, ignore_errors=True)
        shutil.copytree(CLIENT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    # mutmut does not replace copied tests.
    shutil.rmtree(project / "mutants" / "tests", ignore_errors=True)
    for name in ("README.md", "api.md", "LICENSE"):
        shutil.copy(CLIENT / name, project / name)
    settings = (CLIENT / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(settings + SETTINGS)
    return project


if __name__ == "__main__":
    sys.exit(main())
