import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pushBranch } from "#shared/triggers/systems/push-branch.ts";
import { createObjectFetch } from "#shared/triggers/systems/system-api.ts";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { runHarness } from "../harness/support/run-harness.ts";
import { type GitServer, git, startGitServer } from "../support/git-server.ts";
import { startServer } from "../support/http-server.ts";

const TOKEN = "github_pat_that_writes";

let server: GitServer;
let before: Readonly<Record<string, string>>;
/** A directory in which a program that git starts leaves a file. */
let directory: string;
beforeEach(async () => {
  server = await startGitServer(TOKEN);
  before = await server.refs();
  directory = mkdtempSync(join(tmpdir(), "runyard-canary-"));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Executes commands in the clone of a pull request's branch, and pushes as the service does. Returns the last message of the run. */
async function work(script: string, { push = true } = {}): Promise<string | undefined> {
  const url = `file://${server.repository}`;
  const agent_config = { repositories: [{ url, ref: "fix" }] };
  const prompt = `\`\`\`sh\n${script}\n\`\`\``;
  const context = { agent_config, ...(push ? { push: { url, branch: "fix" } } : {}) };
  await using plane = await FakeControlPlane.start({ prompt, context });
  await runHarness(plane);
  for (const { commit, pack } of plane.pushes.all) {
    await using storage = await startServer((_incoming, outgoing) => void outgoing.end(pack));
    const place = { repository: "acme/shop", branch: "fix", commit, pack_url: storage.url };
    const request = { action: "push_branch", system: "github", team_uid: "t", secret_id: "s", ...place } as const;
    await pushBranch(request, { address: server.url, token: TOKEN, fetch: createObjectFetch() });
  }
  return plane.texts.at(-1);
}

const COMMIT = "git -c user.name=a -c user.email=a@example.com commit --quiet --all --message two";

describe("commits of a run of a pull request", () => {
  it("are pushed to its branch when the turn has ended, and nothing else is", async () => {
    const text = await work(
      `echo two > shop.txt; ${COMMIT}; git tag v1; git branch other; git branch --force main; echo later >> shop.txt`,
    );
    const { "refs/heads/fix": commit = "", ...others } = await server.refs();
    expect({ ...others, "refs/heads/fix": before["refs/heads/fix"] }).toEqual(before);
    expect(await git(server.repository, "show", `${commit}:shop.txt`)).toBe("two");
    expect(text).toContain(`Pushed ${commit.slice(0, 12)} to fix.`);
  });

  it.each([
    ["that has committed nothing", "echo two > shop.txt"],
    ["that has failed", `echo two > shop.txt; ${COMMIT}; exit 3`],
    ["that has committed to another branch", `git checkout --quiet -b other; echo two > shop.txt; ${COMMIT}`],
  ])("are not those of a turn %s", async (_, script) => {
    await work(script);
    expect(await server.refs()).toEqual(before);
  });

  it("are not those of a run that may push nothing", async () => {
    await work(`echo two > shop.txt; ${COMMIT}`, { push: false });
    expect(await server.refs()).toEqual(before);
  });
});

describe("what a repository's own files say", () => {
  const canary = (name: string) => join(directory, name);
  const run = (name: string) => `touch ${canary(name)}`;

  it("has no effect on a push: no program of it runs, and it names no other ref and no other server", async () => {
    const settings: readonly (readonly [name: string, value: string])[] = [
      ["core.fsmonitor", run("fsmonitor")],
      ["core.sshCommand", run("ssh")],
      ["core.pager", run("pager")],
      ["core.editor", run("editor")],
      ["core.askPass", canary("askpass")],
      ["core.gitProxy", run("proxy")],
      ["core.alternateRefsCommand", run("alternate-refs")],
      ["credential.helper", `!${run("helper")}`],
      ["diff.external", run("diff")],
      ["filter.x.clean", run("clean")],
      ["filter.x.process", run("process")],
      ["gpg.program", run("gpg")],
      ["uploadpack.packObjectsHook", run("pack-objects")],
      ["remote.origin.url", `ext::${run("ext")}`],
      ["remote.origin.receivepack", run("receive-pack")],
      ["remote.origin.push", "+refs/*:refs/*"],
      ["remote.origin.mirror", "true"],
      ["push.followTags", "true"],
      ["http.proxy", "http://127.0.0.1:9"],
      ["http.extraHeader", "X-Stolen: 1"],
      [`url.http://127.0.0.1:9/.insteadOf`, server.url],
      ["pack.packSizeLimit", "1m"],
    ];
    const hooks = ["pre-push", "post-update", "reference-transaction", "post-index-change", "pre-auto-gc"];
    await work(
      [
        `echo two > shop.txt; ${COMMIT}`,
        "git tag v1; git branch --force main",
        "mkdir -p .git/hooks .git/info",
        ...hooks.map(
          (hook) => `printf '#!/bin/sh\\n${run(hook)}\\n' > .git/hooks/${hook}; chmod +x .git/hooks/${hook}`,
        ),
        "echo '* filter=x diff=x' > .git/info/attributes",
        ...settings.map(([name, value]) => `git config --local '${name}' '${value}'`),
        "git config --local core.hooksPath .git/hooks",
        "true",
      ].join("\n"),
    );
    const refs = await server.refs();
    expect(Object.keys(refs)).toEqual(Object.keys(before));
    expect(refs["refs/heads/main"]).toBe(before["refs/heads/main"]);
    expect(await git(server.repository, "show", "fix:shop.txt")).toBe("two");
    expect(
      ["fsmonitor", "ssh", "ext", "receive-pack", "helper", "proxy", ...hooks].filter((name) =>
        existsSync(canary(name)),
      ),
    ).toEqual([]);
  });

  it.each([
    ["that rewrite the branch", `git reset --quiet --hard HEAD~1; echo x > shop.txt; git add .; ${COMMIT}`],
    ["with objects of another repository", "echo /etc > .git/objects/info/alternates; rm -rf .git/objects/??; true"],
    [
      "whose graft or replacement says that they continue the branch",
      `old=$(git rev-parse HEAD); git checkout --quiet --orphan lone; ${COMMIT}; new=$(git rev-parse HEAD); git branch --force fix; git replace --graft "$new" "$old"; git checkout --quiet fix`,
    ],
  ])("cannot replace the branch by commits %s", async (_, script) => {
    await work(script).catch((error: unknown) => expect(String(error)).toContain("never forced"));
    expect(await server.refs()).toEqual(before);
  });
});
