"""Runs test/clients/artifact-files.json, which the clients of all languages share, and downloads artifacts of runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer
from repository import read_json

from runyard import ArtifactFile, AsyncRunyard, BaseModel, Runyard
from runyard._artifact_files import plan_files

TIME = "2026-05-18T19:00:00.000Z"
PLAN = {"body": {"artifact_uid": "uid-0", "data": {"content": "# Plan", "content_type": "text/markdown"}}}


def run_with(*names: str) -> dict[str, Any]:
    artifacts = [
        {"artifact_type": "FILE", "created_at": TIME, "data": {"artifact_uid": f"uid-{index}", "filepath": name}}
        for index, name in enumerate(names)
    ]
    pull = {"artifact_type": "PULL_REQUEST", "created_at": TIME, "data": {"url": "https://x.test/1", "branch": "a"}}
    return {"run_id": "r1", "state": "SUCCEEDED", "artifacts": [pull, *artifacts]}


@pytest.mark.parametrize("vector", read_json("test/clients/artifact-files.json"), ids=lambda vector: vector["names"])
def test_vector(vector: dict[str, Any]) -> None:
    artifacts = [BaseModel.model_construct(None, **one) for one in run_with(*vector["names"])["artifacts"]]
    assert [file.path for file in plan_files(artifacts)] == vector["paths"]


def test_saves_each_artifact_inside_of_the_folder(server: FaultServer, client: Runyard, tmp_path: Path) -> None:
    server.play([{"body": run_with("../../a.txt", "d/b.txt")}, PLAN, PLAN])
    folder = tmp_path / "out"
    saved = client.runs.download_artifacts("r1", folder)
    paths = [os.path.join(folder, "a.txt"), os.path.join(folder, "d", "b.txt")]
    assert saved == [ArtifactFile("uid-0", paths[0]), ArtifactFile("uid-1", paths[1])]
    assert [Path(path).read_text() for path in paths] == ["# Plan", "# Plan"]


def test_replaces_no_file_unless_it_may(server: FaultServer, client: Runyard, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    server.play([{"body": run_with("a", "b")}])
    with pytest.raises(FileExistsError, match="overwrite=True"):
        client.runs.download_artifacts("r1", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    server.play([{"body": run_with("a", "b")}, PLAN, PLAN])
    client.runs.download_artifacts("r1", tmp_path, overwrite=True)
    assert (tmp_path / "b").read_text() == "# Plan"


@pytest.mark.anyio
async def test_is_the_same_asynchronously(server: FaultServer, async_client: AsyncRunyard, tmp_path: Path) -> None:
    server.play([{"body": run_with("a")}, PLAN])
    async with async_client as client:
        saved = await client.runs.download_artifacts("r1", tmp_path)
    assert saved == [ArtifactFile("uid-0", os.path.join(tmp_path, "a"))]
