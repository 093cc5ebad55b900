"""Runs every snippet of README.md against a running service."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import runyard

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
SECTIONS = [section.split("\n", 1) for section in re.split(r"^## ", README, flags=re.MULTILINE)[1:]]
SNIPPETS = {
    heading: code
    for heading, text in SECTIONS
    for code in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
}

PRINTED = {
    "Create a run and follow it": r"1 run_created\n(.*\n)*\d+ run_succeeded\n(.*\n)*SUCCEEDED\n",
    "Wait for the end": r"SUCCEEDED PT\S+\n(.*\n)+",
    "Use the asynchronous client": r"\['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'\]\n",
    "Find runs": r"(.* (QUEUED|PENDING|INPROGRESS|SUCCEEDED) \d{4}-.*\+00:00\n)+",
    "Handle errors": r"404 resource_not_found .+ \S+\n",
    "Send a follow-up": r"(.*\n)*assistant \[.*'action'.*\]\n(.*\n)*",
    "Attach a file and download the results": r"results/count.txt\n\d+ lines\n",
    "Create a schedule": r"\d{4}-.* 0[12]:00:00\+00:00\n(QUEUED|PENDING)\n",
    "Use an identity": r"(QUEUED|PENDING)\n",
    "Read the raw response": r"200 \S+ 0\n\[.*'local/runbook'.*\]\n\{'uid': .*\n",
}


def test_has_ten_snippets_with_a_short_first_one() -> None:
    assert list(SNIPPETS) == list(PRINTED)
    assert len(SNIPPETS) == README.count("```python") == 10
    assert len(next(iter(SNIPPETS.values())).splitlines()) <= 10


@pytest.mark.parametrize("heading", PRINTED)
def test_snippet_prints(
    heading: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = compile(SNIPPETS[heading], f"README.md: {heading}", "exec")
    try:
        exec(code, {"__name__": "__main__"})
    except runyard.NotFoundError as error:
        # On a busy machine, a transcript may be read before it is composed.
        if "composed within moments" not in str(error):
            raise
        capsys.readouterr()
        # A download replaces no file of an earlier one.
        again = tmp_path / "again"
        again.mkdir()
        monkeypatch.chdir(again)
        exec(code, {"__name__": "__main__"})
    assert re.fullmatch(PRINTED[heading], capsys.readouterr().out)
