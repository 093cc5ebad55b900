import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { readRemoteCommit } from "#harness/git/remote-commit.ts";
import { writeGitConfig } from "#harness/git/run-git.ts";
import { createWorkspace } from "#harness/isolation/workspace.ts";
import { readSystemVersion } from "#harness/setup/setup-snapshot.ts";
import type { RunSetup } from "#shared/wire/executions/setup-snapshot.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { Repository } from "../support/repository.ts";
import { runHarness } from "../support/run-harness.ts";

vi.setConfig({ testTimeout: 240_000 });

const INPUTS = "a".repeat(64);
const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;
const SETUP = ["echo made >> $HOME/tool; echo built > built.txt; chmod 700 built.txt"];
const LOOK = sh("cat built.txt $HOME/tool; git log --format=%s; git status --short; stat -c %a built.txt");

interface Stage {
  readonly repository: Repository;
}

const start = ({ repository: { url } }: Stage, setup_snapshot: RunSetup, prompt: string) =>
  FakeControlPlane.start({
    prompt,
    context: {
      agent_config: { repositories: [{ url }] },
      setup_commands: SETUP,
      setup_snapshot,
    },
  });

const run = async (plane: FakeControlPlane, sandbox = "bubblewrap") => {
  const { code, log } = await runHarness(plane, { RUNYARD_SANDBOX: sandbox });
  expect(code, log).toBe(0);
};

const details = (plane: FakeControlPlane): (string | undefined)[] =>
  plane.events
    .filter(({ event_name }) => event_name === "setup_environment_resolution")
    .map(({ payload }) => payload?.detail);
const steps = (plane: FakeControlPlane): string[] =>
  plane.events.map(({ event_name }) => event_name).filter((name) => /^setup_(repo|commands)/.test(name));

/** Sets up the environment, and returns the snapshot as the service describes it to later runs. */
async function makeSnapshot(stage: Stage, maker: FakeControlPlane): Promise<NonNullable<RunSetup["made"]>> {
  await run(maker);
  const [commit] = maker.callsTo("commit-snapshot");
  const { setup } = Object(commit?.body);
  expect(setup).toMatchObject({ inputs: INPUTS, clones: [{ commit: stage.repository.git("rev-parse", "HEAD") }] });
  return {
    run_id: maker.runId,
    created_at: new Date(Date.now() - 3 * 3_600_000).toISOString(),
    platform: setup.platform,
    clones: setup.clones,
    files: maker.setupFiles.map(({ name, path }) => ({
      filename: name,
      download_url: `http://127.0.0.1:${maker.port}${path}`,
      mime_type: "application/gzip",
      size_bytes: 1,
    })),
  };
}

describe("a setup snapshot", () => {
  it("brings back the workspace and the home directory instead of cloning and running the setup commands", async () => {
    using repository = new Repository("shop", { "a.txt": "a" });
    const stage = { repository };
    await using maker = await start(stage, { inputs: INPUTS, keep: true }, sh("true"));
    const made = await makeSnapshot(stage, maker);
    expect(steps(maker)).toEqual(["setup_repo_clone", "setup_commands"]);
    expect(details(maker)).toEqual([expect.stringMatching(/^the setup snapshot is saved: \d+ MB$/)]);
    await using user = await start(stage, { inputs: INPUTS, made }, LOOK);
    await run(user);
    expect(user.outputs).toEqual(["built\nmade\na change\n?? built.txt\n700\n"]);
    expect(steps(user)).toEqual([]);
    expect(details(user)).toEqual([
      `the setup snapshot of ${made.created_at} (3 hours old, run ${maker.runId}) is used`,
    ]);
  });

  it("is not used if a setup would have other inputs now, which the timeline says", async () => {
    using repository = new Repository("shop", { "a.txt": "a" });
    const stage = { repository };
    await using maker = await start(stage, { inputs: INPUTS, keep: true }, sh("true"));
    const made = await makeSnapshot(stage, maker);
    const { files: _, ...withoutFiles } = made;
    const explain = async (given: NonNullable<RunSetup["made"]>) => {
      await using user = await start(stage, { inputs: INPUTS, made: given }, sh("true"));
      await run(user);
      expect(steps(user)).toEqual(["setup_repo_clone", "setup_commands"]);
      return details(user)[0];
    };
    expect(await explain(withoutFiles)).toMatch(/have changed since$/);
    expect(await explain({ ...made, platform: "b".repeat(64) })).toMatch(/on another machine/);
    repository.commit({ "b.txt": "b" });
    expect(await explain(made)).toMatch(/shop is at [0-9a-f]{40}, it has [0-9a-f]{40}$/);
  });

  it("fails the run with the remedy if storage no longer has it", async () => {
    using repository = new Repository("shop", { "a.txt": "a" });
    const stage = { repository };
    await using maker = await start(stage, { inputs: INPUTS, keep: true }, sh("true"));
    const { files = [], ...made } = await makeSnapshot(stage, maker);
    const gone = files.map((file) => ({ ...file, download_url: `${file.download_url}.gone` }));
    await using user = await start(stage, { inputs: INPUTS, made: { ...made, files: gone } }, LOOK);
    await run(user);
    expect(user.outcome).toMatchObject({
      success: false,
      error_code: "environment_setup_failed",
      summary: expect.stringContaining("/try"),
    });
  });

  it("is not made without bubblewrap, which the timeline says without calling it an error", async () => {
    using repository = new Repository("shop", { "a.txt": "a" });
    await using maker = await start({ repository }, { inputs: INPUTS, keep: true }, sh("true"));
    await run(maker, "none");
    expect(details(maker)).toEqual(["no setup snapshot is saved: it requires bubblewrap"]);
    expect(maker.events.filter(({ payload }) => payload?.is_error)).toEqual([]);
    expect(maker.callsTo("commit-snapshot").map(({ body }) => "setup" in body)).not.toContain(true);
    expect(maker.outcome).toMatchObject({ success: true });
  });
});

describe("readSystemVersion", () => {
  it("reads those of its files that the system has", () => {
    const file = "/etc/os-release";
    expect(readSystemVersion([file, "/etc/absent_version"])).toBe(readFileSync(file, "utf8"));
    expect(readSystemVersion(["/etc/absent_version"])).toBe("");
  });
});

describe("readRemoteCommit", () => {
  const read = async (repository: Repository, ref?: string) => {
    const workspace = createWorkspace();
    await writeGitConfig(workspace.etc);
    const { signal } = new AbortController();
    const options = { workspace: workspace.paths.workspace, etc: workspace.etc, timeoutMs: 10_000, signal };
    return readRemoteCommit({ url: repository.url, ...(ref === undefined ? {} : { ref }) }, options).finally(
      workspace.remove,
    );
  };

  it("returns what a clone would check out: of the default branch, a branch, a tag, another ref or a commit", async () => {
    using repository = new Repository("shop", { "a.txt": "a" });
    const first = repository.git("rev-parse", "HEAD");
    repository.git("tag", "v1");
    repository.git("tag", "--annotate", "--message=two", "v2");
    repository.git("update-ref", "refs/pull/7/head", first);
    const second = repository.commit({ "b.txt": "b" });
    expect(await read(repository)).toBe(second);
    expect(await read(repository, "main")).toBe(second);
    for (const ref of ["v1", "v2", "refs/pull/7/head", first]) expect(await read(repository, ref)).toBe(first);
    expect(await read(repository, "absent")).toBeUndefined();
    repository.git("branch", "v1");
    expect(await read(repository, "v1")).toBeUndefined();
  });

  it("returns an empty text for a repository without commits, and throws for one that cannot be read", async () => {
    using repository = new Repository("shop", {});
    repository.git("update-ref", "-d", "HEAD");
    expect(await read(repository)).toBe("");
    repository.git("config", "core.repositoryformatversion", "9");
    await expect(read(repository)).rejects.toThrow(/repo/);
  });
});
