"""Plans where to save a run's artifacts, whose names the agent has chosen."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Iterable

BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class ArtifactFile:
    """An artifact that was saved: its id, and the path of its file."""

    artifact_uid: str
    path: str


def plan_files(artifacts: Iterable[Any]) -> list[ArtifactFile]:
    """Plans the files of artifacts. Artifacts without content, such as pull requests, have none.

    A path is relative, has `/`, never leaves the folder that it is joined to, and differs from those of the other
    artifacts, even if case is ignored.
    """
    taken: set[str] = set()
    planned = []
    for artifact in artifacts:
        data = artifact.to_dict().get("data", {})
        uid = data.get("artifact_uid")
        if not isinstance(uid, str) or uid == "":
            continue
        names = [data.get(name) for name in ("filepath", "filename", "title")]
        name = next((one for one in names if isinstance(one, str) and one != ""), uid)
        planned.append(ArtifactFile(uid, _take_path(taken, _safe_path(name))))
    return planned


def place_files(
    files: Iterable[ArtifactFile], folder: str | os.PathLike[str], *, overwrite: bool
) -> list[ArtifactFile]:
    """Returns files with their paths below the folder. Raises `FileExistsError` if one exists, unless `overwrite`."""
    placed = [ArtifactFile(file.artifact_uid, os.path.join(os.fspath(folder), *file.path.split("/"))) for file in files]
    existing = [file.path for file in placed if not overwrite and os.path.lexists(file.path)]
    if existing:
        raise FileExistsError(f"{existing[0]} exists: choose another folder, or pass overwrite=True")
    return placed


def _safe_path(name: str) -> str:
    plain = "".join("_" if _is_control(character) else character for character in name.replace("\\", "/"))
    parts = [part for part in plain.split("/") if part.strip(".") != "" and not re.fullmatch("[A-Za-z]:", part)]
    # Where a path is joined to a folder on Windows, the letter of a drive would lead out of it.
    return "/".join(re.sub("^([A-Za-z]):", r"\1_", part) for part in parts) or "artifact"


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Zl", "Zp") or character in BIDI_CONTROLS


def _take_path(taken: set[str], path: str) -> str:
    """Returns the path, or one with a number, that is neither a file nor a folder of another artifact."""

    def is_free(one: str) -> bool:
        lower = one.lower()
        return lower not in taken and f"{lower}/" not in taken and taken.isdisjoint(_folders(one))

    wanted = path if taken.isdisjoint(_folders(path)) else path.replace("/", "_")
    free, count = wanted, 2
    while not is_free(free):
        free, count = _add_number(wanted, count), count + 1
    taken.add(free.lower())
    taken.update(f"{folder}/" for folder in _folders(free))
    return free


def _folders(path: str) -> list[str]:
    """The folders of a path, in lower case."""
    parts = path.lower().split("/")
    return ["/".join(parts[: index + 1]) for index in range(len(parts) - 1)]


def _add_number(path: str, count: int) -> str:
    """Returns `out/a-2.txt` for `out/a.txt`."""
    match = re.fullmatch(r"(.*[^/])(\.[^./]*)", path, re.DOTALL)
    stem, ending = match.groups() if match else (path, "")
    return f"{stem}-{count}{ending}"
