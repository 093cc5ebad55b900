import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createControlPlane } from "#harness/control-plane/control-plane.ts";
import { createPullRequestTool } from "#harness/tools/remote/create-pull-request.ts";
import { findGithubRepository } from "#harness/tools/remote/github-token.ts";
import { createReportArtifactTool } from "#harness/tools/remote/report-artifact.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { githubPulls } from "../../support/github-pulls-stand-in.ts";
import { mcpStage } from "../support/mcp-stage.ts";
import { runHarness } from "../support/run-harness.ts";

let plane: FakeControlPlane;
beforeEach(async () => {
  plane = await FakeControlPlane.start({ prompt: "" });
});
afterEach(() => plane[Symbol.asyncDispose]());

const controlPlane = (signal: AbortSignal) => createControlPlane(plane.envelope, "instance", signal);
const reports = () => plane.callsTo("report-artifact").map(({ body }) => body);
const SECRET = "planted-value-0001";

async function createStage(sandbox: string) {
  const stage = await mcpStage({ sandbox, secrets: { TOKEN: SECRET } });
  const { shell, places: host, redactor, stop } = stage;
  const seen = stage.sandbox.paths;
  const tool = createReportArtifactTool({ plane: controlPlane(stop.signal), redactor, shell, host, seen });
  return {
    ...stage,
    seen,
    report: (input: unknown) => tool.run(input, { id: "1", signal: stop.signal }),
    sh: (command: string) => shell.run({ command }, stop.signal),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

describe.each(["bubblewrap", "none"])("report_artifact of files (%s)", (sandbox) => {
  it("uploads a file of the workspace, by a relative or absolute path", async () => {
    await using stage = await createStage(sandbox);
    await stage.sh("mkdir -p 'a b' && cd 'a b' && printf 'x,y\\n' > \"it's.csv\"");
    const title = `Numbers of ${SECRET}`;
    expect(await stage.report({ artifact_type: "FILE", path: "it's.csv", title })).toEqual({
      output: { artifact_uid: "uid-a b/it's.csv" },
    });
    const sha256 = createHash("sha256").update("x,y\n").digest("hex");
    const data = {
      filepath: "a b/it's.csv",
      filename: "it's.csv",
      mime_type: "text/csv",
      size_bytes: 4,
      sha256,
      title: "Numbers of ***",
    };
    expect(reports()).toEqual([
      { artifact_type: "FILE", data },
      { artifact_type: "FILE", data },
    ]);
    expect(plane.artifacts.get("a b/it's.csv")?.toString()).toBe("x,y\n");
    await stage.report({ artifact_type: "FILE", path: `${stage.seen.workspace}/a b/it's.csv` });
    expect(reports()).toHaveLength(3);
    const { text } = await stage.sh('pwd; ls -A "$TMPDIR"');
    expect(text.trim(), "the shell keeps its directory, and nothing is left").toBe(`${stage.seen.workspace}/a b`);
  });

  it("uploads an image as a screenshot, and rejects other files as one", async () => {
    await using stage = await createStage(sandbox);
    await stage.sh("printf PNG > page.png; printf x > page.txt");
    const result = await stage.report({ artifact_type: "SCREENSHOT", path: "page.png", description: "The page" });
    expect(result.output["artifact_uid"]).toEqual(expect.any(String));
    expect(reports()[0]).toMatchObject({
      artifact_type: "SCREENSHOT",
      data: { mime_type: "image/png", description: "The page" },
    });
    await expect(stage.report({ artifact_type: "SCREENSHOT", path: "page.txt" })).rejects.toThrow("not .txt");
  });

  it.each([
    ["a file outside", "/etc/hosts", "is not in the workspace"],
    ["a path outside", "../outside.txt", "is not in the workspace"],
    ["the workspace itself", ".", "is not in the workspace"],
    ["nothing", "none.txt", "there is no such file"],
    ["a directory", "folder", "there is no such file"],
    ["a pipe", "pipe", "there is no such file"],
    ["a file that is too large", "large", "more than"],
  ])("refuses %s", async (_, path, why) => {
    await using stage = await createStage(sandbox);
    await stage.sh("mkdir folder; mkfifo pipe; truncate -s 101M large");
    await expect(stage.report({ artifact_type: "FILE", path })).rejects.toThrow(why);
    expect(reports()).toEqual([]);
  });
});

describe("report_artifact", () => {
  it("follows no link to files that commands may not read", async () => {
    const outside = join(mkdtempSync(join(tmpdir(), "harness-test-")), "key");
    writeFileSync(outside, "a key of the host");
    await using stage = await createStage("bubblewrap");
    await stage.sh(`ln -s ${outside} link; ln -s / root`);
    for (const path of ["link", `root${outside}`]) {
      await expect(stage.report({ artifact_type: "FILE", path })).rejects.toThrow("there is no such file");
    }
    expect(reports()).toEqual([]);
  });

  it("reports links, and names missing members", async () => {
    await using stage = await createStage("bubblewrap");
    const pull = { url: "https://github.com/acme/things/pull/7", branch: "fix" };
    const issue = { reference_type: "issue", url: "https://tracker.test/T-1", title: "Flaky" };
    expect(await stage.report({ artifact_type: "PULL_REQUEST", ...pull })).toEqual({
      output: { artifact_uid: "uid-PULL_REQUEST" },
    });
    await stage.report({ artifact_type: "EXTERNAL_REFERENCE", ...issue });
    expect(reports()).toEqual([
      { artifact_type: "PULL_REQUEST", data: pull },
      { artifact_type: "EXTERNAL_REFERENCE", data: issue },
    ]);
    await expect(stage.report({ artifact_type: "PULL_REQUEST", url: pull.url })).rejects.toThrow(
      "PULL_REQUEST needs branch",
    );
    await expect(stage.report({ artifact_type: "FILE" })).rejects.toThrow("FILE needs path");
    expect(await stage.report({ artifact_type: "SONG" })).toMatchObject({ isError: true });
  });

  it("passes the service's error to the model", async () => {
    await using stage = await createStage("bubblewrap");
    plane.intercept = ({ path }) =>
      path.endsWith("report-artifact")
        ? { status: 400, body: { detail: "data.url: must be an https URL" } }
        : undefined;
    expect(await stage.report({ artifact_type: "PULL_REQUEST", url: "javascript:1", branch: "b" })).toEqual({
      isError: true,
      output: { error: "data.url: must be an https URL" },
    });
  });
});

describe("files in a run's output directory", () => {
  it("are skipped when the service accepts no more, and the run continues", async () => {
    const detail = "a run stores at most 1000 artifacts of 5368709120 bytes in total";
    plane.prompt = "```sh\necho a > $RUNYARD_OUTPUT/a.txt; echo b > $RUNYARD_OUTPUT/b.txt\n```";
    plane.intercept = ({ path }) =>
      path.endsWith("report-artifact")
        ? { status: 429, body: { detail }, headers: { "x-should-retry": "false" } }
        : undefined;
    expect((await runHarness(plane)).code).toBe(0);
    expect(plane.outcome).toEqual({
      success: true,
      summary: `Ran one command. Not kept as artifacts: a.txt: ${detail}; b.txt: ${detail}.`,
    });
  });
});

describe("create_pull_request", () => {
  const TOKEN = "token-of-github-0001";
  const input = { branch: "fix", title: "Fix the test", body: "It was flaky." };

  async function tool(apiUrl: string, { repositories = ["https://github.com/acme/things.git"], secrets = {} } = {}) {
    const stop = new AbortController();
    const { createRedactor } = await import("#harness/redaction/redactor.ts");
    const github = { repositories: repositories.map((url) => ({ url })), secrets, apiUrl };
    const made = createPullRequestTool({ plane: controlPlane(stop.signal), redactor: createRedactor([TOKEN]), github });
    return (given: unknown) => made.run(given, { id: "1", signal: stop.signal });
  }

  it("opens one with the injected token against the default branch, and adds it to the run", async () => {
    await using github = await githubPulls({ token: TOKEN });
    const open = await tool(github.url, { secrets: { GITHUB_TOKEN: TOKEN } });
    const result = await open({ ...input, body: `token ${TOKEN}`, draft: true });
    const url = "https://github.com/acme/things/pull/7";
    expect(result).toEqual({ output: { url, number: 7, base: "main" } });
    expect(github.seen.at(-1)?.body).toEqual({
      head: "fix",
      base: "main",
      title: input.title,
      body: "token ***",
      draft: true,
    });
    expect(reports()).toEqual([{ artifact_type: "PULL_REQUEST", data: { url, branch: "fix", status: "open" } }]);
  });

  it("returns the existing pull request", async () => {
    await using github = await githubPulls({ token: TOKEN });
    const open = await tool(github.url, { repositories: [`https://x-access-token:${TOKEN}@github.com/acme/things`] });
    const first = await open(input);
    const second = await open({ ...input, base: "main" });
    expect(second.output).toEqual({ ...first.output, already_open: true });
  });

  it.each([
    [
      { ...input, branch: "not-pushed" },
      "GitHub returned 422: Validation Failed; head is not valid; has the branch been pushed?",
    ],
    [{ ...input, repository: "acme/other" }, "GitHub returned 404: Not Found"],
    [{ ...input, repository: "https://evil.test/a/b" }, "repository must be owner/repo; this run has acme/things"],
  ])("reports the error: %j", async (given, why) => {
    await using github = await githubPulls({ token: TOKEN });
    const open = await tool(github.url, { secrets: { GH_TOKEN: TOKEN } });
    await expect(open(given)).rejects.toThrow(why);
    expect(reports()).toEqual([]);
  });

  it("reports a missing token, and sends nothing", async () => {
    await using github = await githubPulls({ token: TOKEN });
    await expect((await tool(github.url))(input)).rejects.toThrow("there is no token for github.com");
    expect(github.seen).toEqual([]);
  });

  it("sends a token to its own host only", () => {
    const planted = { secrets: { GITHUB_TOKEN: TOKEN } };
    const at = (...urls: string[]) => ({ ...planted, repositories: urls.map((url) => ({ url })) });
    expect(findGithubRepository(undefined, at("git@github.com:acme/things.git"))).toEqual({
      owner: "acme",
      name: "things",
      apiUrl: "https://api.github.com",
      token: TOKEN,
    });
    expect(() => findGithubRepository(undefined, at("https://git.acme.test/acme/things"))).toThrow(
      "no token for git.acme.test",
    );
    const own = at("https://u:own-token@git.acme.test/acme/things", "https://github.com/acme/things");
    expect(findGithubRepository("acme/THINGS", own)).toMatchObject({
      apiUrl: "https://git.acme.test/api/v3",
      token: "own-token",
    });
    expect(() => findGithubRepository(undefined, own)).toThrow("this run has acme/things, acme/things");
    expect(findGithubRepository("other/place", own)).toMatchObject({ apiUrl: "https://api.github.com", token: TOKEN });
  });
});
