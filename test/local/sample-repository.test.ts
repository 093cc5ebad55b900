import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../../server/host/commands.ts";
import { localPaths } from "../../server/host/paths.ts";
import { sampleSource } from "../../server/host/sample/sample-repository.ts";
import { AmbientAgentConfig } from "../../shared/wire/config.ts";

describe("the repositories of the sample run", () => {
  let folder: string;
  const source = (repo?: string) => sampleSource(localPaths({ RUNYARD_STATE: path.join(folder, "state") }), repo);

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), "sample-")));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function repository(name: string): Promise<string> {
    const place = path.join(folder, name);
    await mkdir(place);
    const identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    await runCommand("git", ["init", "--quiet"], { cwd: place });
    await runCommand("git", [...identity, "commit", "--quiet", "--allow-empty", "-m", "One"], { cwd: place });
    return place;
  }

  test("are by default one repository that contains the skill, in a form that the API accepts", async () => {
    const { repositories, skill } = await source();
    expect(v.is(AmbientAgentConfig, { repositories, skill_spec: skill })).toBe(true);
    const [own] = repositories;
    expect(repositories).toHaveLength(1);
    expect(skill).toBe(`${own?.url.split("/").slice(-2).join("/")}:repository-report`);
  });

  test("start with the one of --repo, followed by the clone that contains the skill", async () => {
    const { repositories, skill } = await source(await repository("my project"));
    expect(v.is(AmbientAgentConfig, { repositories, skill_spec: skill })).toBe(true);
    expect(repositories).toMatchObject([
      { url: pathToFileURL(path.join(folder, "my project")).href, path: "repository" },
      { path: ".runyard-skills" },
    ]);
    expect((await source("https://example.com/owner/name.git")).repositories[0]).toEqual({
      url: "https://example.com/owner/name.git",
      path: "name",
    });
  });

  test.each([
    ["hidden", ".dotfiles"],
    ["the sandbox's own", "output"],
  ])("include another clone for a repository with a %s name", async (_, name) => {
    expect((await source(await repository(name))).repositories[0]?.path).toBe("repository");
  });

  test("cannot be ones that git cannot clone", async () => {
    await expect(source("/nonexistent")).rejects.toThrow("neither a git repository here nor");
    await mkdir(path.join(folder, "empty"));
    await runCommand("git", ["init", "--quiet"], { cwd: path.join(folder, "empty") });
    await expect(source(path.join(folder, "empty"))).rejects.toThrow("has no commits yet");
  });
});
