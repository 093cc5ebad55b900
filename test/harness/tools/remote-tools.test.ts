import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandResult } from "#harness/commands/command-runner.ts";
import type { Shell } from "#harness/commands/shell.ts";
import { Refused } from "#harness/control-plane/control-plane.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createSlice } from "#harness/support/time-slice.ts";
import { askUserTool } from "#harness/tools/remote/ask-user.ts";
import { createCallMcpTool } from "#harness/tools/remote/call-mcp-tool.ts";
import { createPlanTool } from "#harness/tools/remote/create-plan.ts";
import { createPullRequestTool } from "#harness/tools/remote/create-pull-request.ts";
import { findGithubRepository, type GithubAccess } from "#harness/tools/remote/github-token.ts";
import type { McpConnection, McpTool } from "#harness/tools/remote/mcp-connection.ts";
import { listServerSecrets } from "#harness/tools/remote/mcp-secrets.ts";
import { createNotifyUserTool } from "#harness/tools/remote/notify-user.ts";
import { catchRefusal } from "#harness/tools/remote/refused-call.ts";
import { createReportArtifactTool } from "#harness/tools/remote/report-artifact.ts";
import { createRunsApi, type RunsApi } from "#harness/tools/remote/runs-api.ts";
import { createAgentTools } from "#harness/tools/remote/start-agent.ts";
import { withWorkspaceFile } from "#harness/tools/remote/workspace-file.ts";
import type { ReportArtifactRequest } from "#shared/wire/executions/report-artifact.ts";
import { RunItem } from "#shared/wire/run.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

const execute = promisify(execFile);
const redactor = createRedactor(["s3cr3t-value-of-the-run"]);
const signal = new AbortController().signal;
const call = { id: "call-1", signal };

let folder = "";
let service: Server;
let url = "";
let calls: { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
/** The next responses; then 200. */
let responses: { status: number; body: unknown }[] = [];
beforeEach(async () => {
  [calls, responses] = [[], []];
  folder = mkdtempSync(join(tmpdir(), "remote-"));
  for (const name of ["workspace", "tmp"]) mkdirSync(join(folder, name));
  service = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    calls.push({ method: request.method, url: request.url, headers: request.headers, body });
    const next = responses.shift() ?? { status: 200, body: {} };
    response
      .writeHead(next.status, { "x-should-retry": "false" })
      .end(typeof next.body === "string" ? next.body : JSON.stringify(next.body));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const address = service.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterEach(() => {
  service.closeAllConnections();
  service.close();
  rmSync(folder, { recursive: true });
});

/** A control plane that accepts artifacts. */
function createPlane(upload?: object) {
  const reports: ReportArtifactRequest[] = [];
  const plane = {
    async reportArtifact(report: ReportArtifactRequest) {
      reports.push(report);
      const target = { url, method: "PUT" as const, headers: null };
      return { artifact_uid: "uid-1", ...(upload === undefined ? {} : { upload: target }) };
    },
  };
  return { plane, reports };
}

describe("ask_user", () => {
  it("ends the turn with the question and its options", async () => {
    const ask = (input: object) => askUserTool.run(input, call);
    expect(await ask({ question: "Which?" })).toEqual({
      output: { asked: true },
      ends: { success: false, blocked: true, summary: "Which?" },
    });
    expect(await ask({ question: "Which?", options: ["a", "b"] })).toMatchObject({
      ends: { summary: "Which? (a / b)" },
    });
  });
});

describe("create_plan", () => {
  it("stores the plan of the run, redacted, or another one", async () => {
    const { plane, reports } = createPlane();
    const tool = createPlanTool({ plane, redactor, runId: "run-1" });
    const plan = { title: "A\0", content: "Use s3cr3t-value-of-the-run." };
    expect(await tool.run(plan, call)).toEqual({ output: { document: "run-1", artifact_uid: "uid-1" } });
    expect(await tool.run({ ...plan, document: "b" }, call)).toMatchObject({ output: { document: "b" } });
    const data = { title: "A\ufffd", content: "Use ***." };
    expect(reports).toEqual(
      ["run-1", "b"].map((document_uid) => ({ artifact_type: "PLAN", data: { document_uid, ...data } })),
    );
  });
});

describe("notify_user", () => {
  it("sends the message, redacted and cut at 4,096 bytes", async () => {
    const messages: string[] = [];
    const plane = { notifyUser: async (message: string) => void messages.push(message) };
    const tool = createNotifyUserTool({ plane, redactor });
    expect(await tool.run({ message: "s3cr3t-value-of-the-run\0" }, call)).toEqual({ output: { told: true } });
    await tool.run({ message: "x".repeat(5_000) }, call);
    expect(messages).toEqual(["***\ufffd", "x".repeat(4_096)]);
  });
});

describe("catchRefusal", () => {
  it("gives a refusal to the model, and throws anything else", async () => {
    const fail = (error: Error) => catchRefusal(() => Promise.reject(error));
    expect(await fail(new Refused("said", "Too many."))).toEqual({ isError: true, output: { error: "Too many." } });
    await expect(fail(new Error("no"))).rejects.toThrow("no");
  });
});

describe("listServerSecrets", () => {
  it("lists long values of variables and headers, and the part of a header after its scheme", () => {
    const servers = {
      a: { env: { A: "12345678", B: "1234567", C: `${" ".repeat(8)}` } },
      b: { headers: { authorization: " Bearer  abcdefgh ", other: "12345678" } },
      c: {},
    };
    expect(listServerSecrets(servers)).toEqual(["12345678", " Bearer  abcdefgh ", "abcdefgh", "12345678", "12345678"]);
    expect(listServerSecrets()).toEqual([]);
  });
});

describe("findGithubRepository", () => {
  const access = (urls: readonly string[], more: Partial<GithubAccess> = {}): GithubAccess => ({
    repositories: urls.map((one) => ({ url: one })),
    secrets: { GH_TOKEN: "gh", GITHUB_TOKEN: "github" },
    ...more,
  });
  const HTTPS = "https://github.com/acme/shop.git";

  it.each<[string | undefined, GithubAccess, object]>([
    [undefined, access([HTTPS]), { owner: "acme", name: "shop", apiUrl: "https://api.github.com", token: "gh" }],
    [
      "ACME/Shop",
      access(["git@github.com:acme/shop.git", "https://github.com/acme/b"], { secrets: { GITHUB_TOKEN: "github" } }),
      { owner: "acme", name: "shop", apiUrl: "https://api.github.com", token: "github" },
    ],
    [
      "other/thing.js",
      access([], { apiUrl: "http://127.0.0.1:1" }),
      { owner: "other", name: "thing.js", apiUrl: "http://127.0.0.1:1", token: "gh" },
    ],
    [
      undefined,
      access(["https://user:p%2Fw@git.acme.example:8443/acme/shop"], { apiUrl: "http://127.0.0.1:1" }),
      { owner: "acme", name: "shop", apiUrl: "https://git.acme.example:8443/api/v3", token: "p/w" },
    ],
    [
      undefined,
      access(["ssh://git@github.com:22/acme/shop", "file:///srv/a/b", "not a URL"]),
      { owner: "acme", name: "shop", apiUrl: "https://api.github.com", token: "gh" },
    ],
  ])("finds %s", (wanted, given, found) => {
    expect(findGithubRepository(wanted, given)).toEqual(found);
  });

  it.each<[string | undefined, GithubAccess, string]>([
    [undefined, access([]), "repository must be owner/repo; this run has none on GitHub"],
    [
      undefined,
      access([HTTPS, "https://github.com/acme/b"]),
      "repository must be owner/repo; this run has acme/shop, acme/b",
    ],
    ["a/b/c", access([HTTPS]), "repository must be owner/repo; this run has acme/shop"],
    ["x a/b", access([HTTPS]), "repository must be owner/repo"],
    ["a/b y", access([HTTPS]), "repository must be owner/repo"],
    [
      undefined,
      access([HTTPS], { secrets: {} }),
      "there is no token for github.com: add a secret GH_TOKEN or GITHUB_TOKEN",
    ],
    [undefined, access(["git@git.acme.example:acme/shop"]), "there is no token for git.acme.example"],
    [undefined, access(["ssh://git@git.acme.example/acme/shop"]), "there is no token for git.acme.example"],
    [undefined, access(["https://git.acme.example/acme/shop"]), "there is no token for git.acme.example"],
  ])("does not find %s", (wanted, given, message) => {
    expect(() => findGithubRepository(wanted, given)).toThrow(message);
  });
});

describe("create_pull_request", () => {
  const open = (input: object, own = call) => {
    const { plane, reports } = createPlane();
    const github = {
      repositories: [{ url: "https://github.com/acme/s%20p" }],
      secrets: { GH_TOKEN: "gh" },
      apiUrl: url,
    };
    const tool = createPullRequestTool({ plane, redactor, github });
    return { reports, result: tool.run({ branch: "fix", title: "A s3cr3t-value-of-the-run", ...input }, own) };
  };
  const PULL = { html_url: "https://github.com/acme/shop/pull/7", number: 7 };

  it("opens one into the default branch, and reports it", async () => {
    responses = [
      { status: 200, body: { default_branch: "main" } },
      { status: 201, body: PULL },
    ];
    const { result, reports } = open({});
    expect(await result).toEqual({ output: { url: PULL.html_url, number: 7, base: "main" } });
    expect(reports).toEqual([
      { artifact_type: "PULL_REQUEST", data: { url: PULL.html_url, branch: "fix", status: "open" } },
    ]);
    expect(calls.map(({ method, url: path }) => [method, path?.replaceAll("%2520", "%20")])).toEqual([
      ["GET", expect.stringMatching(/^\/repos\/acme\/[^/]+$/)],
      ["POST", expect.stringMatching(/^\/repos\/acme\/[^/]+\/pulls$/)],
    ]);
    expect(calls[0]?.headers).toMatchObject({
      authorization: "Bearer gh",
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "runyard",
    });
    expect(JSON.parse(calls[1]?.body ?? "")).toEqual({ head: "fix", base: "main", title: "A ***", body: "" });
  });

  it("allows 30 seconds for each request, and ends with the turn", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    responses = [{ status: 201, body: PULL }];
    await open({ base: "main" }).result;
    expect(timeout.mock.calls).toEqual([[30_000]]);
    vi.restoreAllMocks();
    const over = { id: "1", signal: AbortSignal.abort(new Error("interrupted")) };
    await expect(open({ base: "main" }, over).result).rejects.toThrow("aborted");
    expect(calls).toHaveLength(1);
  });

  it("passes on its base, body and state", async () => {
    responses = [{ status: 201, body: { ...PULL, draft: true } }];
    const { result, reports } = open({ base: "next", body: "Why\0", draft: true });
    await result;
    expect(reports).toMatchObject([{ data: { status: "draft" } }]);
    expect(calls).toHaveLength(1);
    expect(JSON.parse(calls[0]?.body ?? "")).toEqual({
      head: "fix",
      base: "next",
      title: "A ***",
      body: "Why\ufffd",
      draft: true,
    });
  });

  it("finds the open one of the branch", async () => {
    const exists = {
      message: "Validation Failed",
      errors: [{ message: "A pull request Already Exists for acme:fix." }],
    };
    for (const [branch, head] of [
      ["fix", "acme%3Afix"],
      ["fork:fix", "fork%3Afix"],
    ]) {
      calls = [];
      responses = [
        { status: 422, body: exists },
        { status: 200, body: [PULL] },
      ];
      const { result } = open({ base: "main", branch });
      expect(await result).toEqual({ output: { url: PULL.html_url, number: 7, base: "main", already_open: true } });
      expect(calls[1]?.url).toMatch(new RegExp(`/pulls\\?head=${head}&base=main&state=open$`));
    }
    responses = [
      { status: 422, body: exists },
      { status: 200, body: [] },
    ];
    await expect(open({ base: "main" }).result).rejects.toThrow(
      "GitHub returned 422: Validation Failed; A pull request Already Exists for acme:fix.",
    );
    responses = [{ status: 409, body: exists }];
    await expect(open({ base: "main" }).result).rejects.toThrow(/^GitHub returned 409: /);
  });

  it.each([
    [
      422,
      { message: "Failed", errors: [{ field: "head" }] },
      "422: Failed; head is not valid; has the branch been pushed?",
    ],
    [403, { message: "no head" }, "403: no head"],
    [422, { message: "Failed" }, "422: Failed"],
    [500, "x".repeat(400), `500: ${"x".repeat(300)}`],
    [500, { message: "y".repeat(600) }, `500: ${"y".repeat(500)}`],
  ])("fails with status %i and says why", async (status, body, message) => {
    responses = [{ status, body }];
    const { result, reports } = open({ base: "main" });
    await expect(result).rejects.toMatchObject({ message: `GitHub returned ${message}` });
    expect(reports).toEqual([]);
    responses = [{ status, body }];
    await expect(open({}).result).rejects.toThrow(/^GitHub returned \d+: /);
    expect(calls).toHaveLength(2);
  });
});

/** A shell whose commands run in the workspace of `folder`. */
function createShell(): Shell {
  const here = join(folder, "workspace");
  const ended = { command: "", timedOut: false, durationMs: 1, workingDirectory: here, truncated: false };
  const runAside = (command: string): Promise<CommandResult> =>
    execute("bash", ["-c", command], { cwd: here }).then(
      ({ stdout }) => ({ ...ended, exitCode: 0, text: stdout }),
      (error: { code: number; stderr: string }) => ({ ...ended, exitCode: error.code, text: error.stderr }),
    );
  return { here, run: () => Promise.reject(new Error("not used")), checkAside: () => {}, runAside };
}

const files = () => {
  const place = (name: string) => join(folder, name);
  const paths = { workspace: place("workspace"), home: "/h", tmp: place("tmp"), output: "/o", steps: "/s" };
  return { shell: createShell(), host: paths, seen: paths };
};

describe("withWorkspaceFile", () => {
  const use = (path: string, maxBytes = 4) =>
    withWorkspaceFile(path, files(), maxBytes, signal, async ({ file, ...more }) => ({
      ...more,
      text: readFileSync(file, "utf8"),
    }));

  it("gives a copy of a file while it is used", async () => {
    mkdirSync(join(folder, "workspace", "..a"));
    writeFileSync(join(folder, "workspace", "..a", "it's"), "text");
    const found = { sizeBytes: 4, path: "..a/it's", text: "text" };
    expect(await use("..a/it's")).toEqual(found);
    expect(await use(join(folder, "workspace", "..a", "it's"))).toEqual(found);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it.each(["..", ".", "../tmp/a", "/etc/passwd", ""])("rejects %j, which is not in the workspace", async (path) => {
    await expect(use(path)).rejects.toThrow(`${path} is not in the workspace ${join(folder, "workspace")}`);
  });

  it("rejects a missing, a large and a special file", async () => {
    writeFileSync(join(folder, "workspace", "a"), "12345");
    await expect(use("a")).rejects.toMatchObject({ message: "a: the file has more than 4 bytes" });
    await expect(use("none")).rejects.toMatchObject({ message: "none: there is no such file" });
    symlinkSync("/dev/null", join(folder, "workspace", "null"));
    await expect(use("null")).rejects.toThrow("there is no such file");
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it("rejects a copy that has become too large", async () => {
    const { host, seen } = files();
    const grown = (text: string): Shell => ({
      ...createShell(),
      async runAside(command) {
        writeFileSync(join(folder, "tmp", /runyard-[\w-]+/.exec(command)?.[0] ?? ""), text);
        return {
          ...{ command, timedOut: false, durationMs: 1, workingDirectory: "", truncated: false },
          ...{ exitCode: 0, text: "" },
        };
      },
    });
    const size = (text: string) =>
      withWorkspaceFile("a", { shell: grown(text), host, seen }, 4, signal, async ({ sizeBytes }) => sizeBytes);
    expect(await size("1234")).toBe(4);
    await expect(size("12345")).rejects.toMatchObject({ message: "a is too large" });
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it("reports how a command without output ended", async () => {
    const { host, seen } = files();
    const silent: Shell = {
      ...createShell(),
      runAside: async () => ({
        command: "",
        timedOut: false,
        durationMs: 1,
        workingDirectory: "",
        truncated: false,
        exitCode: 9,
        text: " ",
      }),
    };
    await expect(withWorkspaceFile("a", { shell: silent, host, seen }, 4, signal, async () => 1)).rejects.toMatchObject(
      { message: "a: exit code 9" },
    );
  });
});

describe("report_artifact", () => {
  const report = (input: object, upload?: object) => {
    const { plane, reports } = createPlane(upload);
    const tool = createReportArtifactTool({ plane, redactor, ...files() });
    return { reports, result: tool.run(input, call) };
  };
  beforeEach(() => {
    for (const name of ["a.png", "b.txt", "c", "s3cr3t-value-of-the-run.txt"])
      writeFileSync(join(folder, "workspace", name), "text");
  });
  const sha256 = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";
  const CONTENT = { size_bytes: 4, sha256 };

  it.each([
    [
      { artifact_type: "FILE", path: "b.txt" },
      { ...CONTENT, mime_type: "text/plain", filepath: "b.txt", filename: "b.txt" },
    ],
    [
      { artifact_type: "FILE", path: "./a.png", title: "A s3cr3t-value-of-the-run", description: "d" },
      { ...CONTENT, mime_type: "image/png", filepath: "a.png", filename: "a.png", title: "A ***", description: "d" },
    ],
    [
      { artifact_type: "FILE", path: "s3cr3t-value-of-the-run.txt" },
      { ...CONTENT, mime_type: "text/plain", filepath: "***.txt", filename: "***.txt" },
    ],
    [
      { artifact_type: "SCREENSHOT", path: "a.png", title: "t", description: "d" },
      { ...CONTENT, mime_type: "image/png", description: "d" },
    ],
    [
      { artifact_type: "PULL_REQUEST", url: "https://a.example", branch: "b", title: "t" },
      { url: "https://a.example", branch: "b" },
    ],
    [
      { artifact_type: "EXTERNAL_REFERENCE", url: "https://a.example", reference_type: "issue" },
      { url: "https://a.example", reference_type: "issue" },
    ],
    [
      { artifact_type: "EXTERNAL_REFERENCE", url: "https://a.example", reference_type: "issue", title: "t" },
      { url: "https://a.example", reference_type: "issue", title: "t" },
    ],
  ])("reports %j", async (input, data) => {
    const { result, reports } = report(input);
    expect(await result).toEqual({ output: { artifact_uid: "uid-1" } });
    expect(reports).toEqual([{ artifact_type: input.artifact_type, data }]);
  });

  it("uploads a file, and confirms it", async () => {
    const { result, reports } = report({ artifact_type: "FILE", path: "b.txt" }, {});
    await result;
    expect([reports.length, reports[0]]).toEqual([2, reports[1]]);
    expect(calls).toMatchObject([{ method: "PUT", headers: { "content-type": "text/plain" }, body: "text" }]);
  });

  it.each([
    [{ artifact_type: "FILE" }, "FILE needs path"],
    [{ artifact_type: "SCREENSHOT" }, "SCREENSHOT needs path"],
    [{ artifact_type: "PULL_REQUEST" }, "PULL_REQUEST needs url and branch"],
    [{ artifact_type: "PULL_REQUEST", url: "https://a.example" }, "PULL_REQUEST needs branch"],
    [{ artifact_type: "EXTERNAL_REFERENCE" }, "EXTERNAL_REFERENCE needs reference_type and url"],
    [{ artifact_type: "SCREENSHOT", path: "b.txt" }, "a screenshot must be an image, not .txt"],
    [{ artifact_type: "SCREENSHOT", path: "c" }, "a screenshot must be an image, not a file without an extension"],
  ])("refuses %j", async (input, message) => {
    const { result, reports } = report(input);
    await expect(result).rejects.toMatchObject({ message });
    expect(reports).toEqual([]);
  });

  it("accepts a file of 100 MiB and a screenshot of 20 MiB", async () => {
    const place = (name: string) => join(folder, "workspace", name);
    await execute("truncate", ["-s", String(100 * 1024 * 1024 + 1), place("big.bin")]);
    await execute("truncate", ["-s", String(20 * 1024 * 1024 + 1), place("big.png")]);
    await expect(report({ artifact_type: "FILE", path: "big.bin" }).result).rejects.toThrow(
      "more than 104857600 bytes",
    );
    await expect(report({ artifact_type: "SCREENSHOT", path: "big.png" }).result).rejects.toThrow(
      "more than 20971520 bytes",
    );
    expect(await report({ artifact_type: "FILE", path: "big.png" }).result).toMatchObject({ output: {} });
  });
});

describe("the runs that an agent starts", () => {
  const ITEM = { run_id: "run-2", title: "A run", state: "SUCCEEDED" };

  function startAgents(
    states: readonly object[],
    given: { waitUntil?: number; servers?: object; config?: object } = {},
  ) {
    const made: unknown[] = [];
    let reads = 0;
    const runs: RunsApi = {
      async create(request, once) {
        made.push([request, once]);
        return "run-2";
      },
      async read(runId) {
        const state = states[Math.min(reads++, states.length - 1)];
        if (state instanceof Error) throw state;
        return { ...JSON.parse(JSON.stringify({ ...ITEM, ...state })), run_id: runId };
      },
      readFinalMessage: async () => "x".repeat(40_000),
      followUp: async (...followup) => void made.push(followup),
    };
    const context = {
      execution_id: "execution-1",
      agent_config: { model_id: "a/b", repositories: [{ url: "https://a.example/b" }], ...given.config },
      mcp_servers: { box: { url: "https://mcp.example" } },
    };
    const tools = createAgentTools({
      runs,
      context,
      waitUntil: given.waitUntil ?? Number.POSITIVE_INFINITY,
      pollMs: 1,
    });
    const use = (name: string, input: object, own = call) => {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      return tool.run(input, own);
    };
    return { use, made, countReads: () => reads };
  }

  it("get a configuration based on that of this run", async () => {
    const { use, made } = startAgents([{}]);
    const key = expect.stringMatching(/^[0-9a-f]{64}$/);
    const output = { run_id: "run-2", state: "QUEUED" };
    expect(await use("start_agent", { prompt: "a", wait: false })).toEqual({ output });
    await use("start_agent", {
      prompt: "a",
      wait: false,
      title: "t",
      skill: "s",
      model_id: "c/d",
      budget_usd: 2,
      repositories: [{ url: "u" }, { url: "v", ref: "r", path: "p" }],
      mcp_servers: ["box"],
    });
    const bare = startAgents([{}], { config: { model_id: undefined, repositories: undefined } });
    await bare.use("start_agent", { prompt: "a", wait: false });
    const closed = startAgents([{}], { config: { repositories: [{ url: "u", ref: "main", token_secret: "TOKEN" }] } });
    await closed.use("start_agent", { prompt: "a", wait: false, repositories: [{ url: "u", ref: "r" }, { url: "v" }] });
    const repositories = [{ url: "u", ref: "r", token_secret: "TOKEN" }, { url: "v" }];
    expect(closed.made).toStrictEqual([[{ prompt: "a", config: { model_id: "a/b", repositories } }, key]]);
    expect([...made, ...bare.made]).toStrictEqual([
      [{ prompt: "a", config: { model_id: "a/b", repositories: [{ url: "https://a.example/b" }] } }, key],
      [
        {
          prompt: "a",
          config: {
            model_id: "c/d",
            budget_usd: 2,
            repositories: [{ url: "u" }, { url: "v", ref: "r", path: "p" }],
            mcp_servers: { box: { url: "https://mcp.example" } },
          },
          title: "t",
          skill: "s",
        },
        key,
      ],
      [{ prompt: "a", config: {} }, key],
    ]);
    await expect(use("start_agent", { prompt: "a", mcp_servers: ["none"] })).rejects.toThrow(
      "mcp_servers: this run has no server none",
    );
  });

  it("are waited for, and return their end", async () => {
    const artifacts = Array.from({ length: 51 }, (_, at) => ({
      artifact_type: "PLAN",
      data: { document_uid: `${at}` },
    }));
    const states = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"].map((state) => ({ state }));
    const { use, countReads } = startAgents(states);
    expect(await use("start_agent", { prompt: "a" })).toEqual({
      output: {
        run_id: "run-2",
        title: "A run",
        state: "BLOCKED",
        text: "x".repeat(32 * 1024),
        artifacts: [],
        note: "it asks a question: answer with message_agent, then wait for it again",
      },
    });
    expect(countReads()).toBe(5);
    const ended = startAgents([{ status_message: { message: "m" }, request_usage: { cost_usd: 1 }, artifacts }]);
    const { output } = await ended.use("wait_for_agents", { run_ids: ["run-3"] });
    expect(output).toMatchObject({
      agents: [{ run_id: "run-3", state: "SUCCEEDED", message: "m", usage: { cost_usd: 1 } }],
    });
    expect(JSON.stringify(output)).toContain('{"artifact_type":"PLAN","document_uid":"49"}]');
    expect(JSON.stringify(output)).not.toContain('"note"');
  });

  it("are not waited for longer than requested or than the execution lasts", async () => {
    const running = { run_id: "run-2", title: "A run", state: "INPROGRESS" };
    const note = "it is still running: wait for it again with wait_for_agents";
    const over = startAgents([{ state: "INPROGRESS" }], { waitUntil: Date.now() });
    expect(await over.use("start_agent", { prompt: "a" })).toEqual({ output: { ...running, note } });
    expect(over.countReads()).toBe(1);
    const begin = Date.now();
    const limited = startAgents([{ state: "INPROGRESS" }]);
    await limited.use("start_agent", { prompt: "a", timeout_seconds: 1 });
    expect(Date.now() - begin).toBeLessThan(60_000);
    // The pauses grow by half, so there are few in a second.
    expect(limited.countReads()).toBeGreaterThan(2);
    expect(limited.countReads()).toBeLessThan(25);
  });

  it("report a failure for each run, and are not waited for after the turn", async () => {
    const failing = startAgents([new Error("unknown run")]);
    expect(await failing.use("wait_for_agents", { run_ids: ["a", "b"] })).toEqual({
      output: { agents: ["a", "b"].map((run_id) => ({ run_id, error: "unknown run" })) },
    });
    const controller = new AbortController();
    const waiting = startAgents([{ state: "QUEUED" }]);
    const used = waiting.use("wait_for_agents", { run_ids: ["a"] }, { id: "1", signal: controller.signal });
    setTimeout(() => controller.abort(new Error("interrupted")), 20);
    await expect(used).rejects.toThrow("interrupted");
  });

  it("get messages, each once", async () => {
    const { use, made } = startAgents([{}]);
    const message = { run_id: "run-2", message: "m" };
    expect(await use("message_agent", message)).toEqual({ output: { run_id: "run-2", sent: true } });
    await use("message_agent", message, { id: "call-2", signal });
    await use("message_agent", message);
    const keys = made.map((followup) => (Array.isArray(followup) ? followup[2] : undefined));
    expect(made[0]).toEqual(["run-2", "m", expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect([keys[0] === keys[1], keys[0] === keys[2]]).toEqual([false, true]);
  });
});

describe("the service's runs", () => {
  const start = (own = signal) => {
    const envelope = {
      version: 1 as const,
      run_id: "run-1",
      execution_id: "execution-1",
      key: "ryr_key",
      base_url: url,
      model_url: url,
    };
    return createRunsApi(envelope, own);
  };

  it("are created, read and continued by the run's key", async () => {
    const runs = start();
    responses = [
      { status: 200, body: { run_id: "run-2", task_id: "run-2", state: "QUEUED" } },
      { status: 200, body: { text: "Done." } },
      { status: 200, body: {} },
    ];
    expect(await runs.create({ prompt: "a" }, "once")).toBe("run-2");
    expect(await runs.readFinalMessage("a/b")).toBe("Done.");
    await runs.followUp("run-2", "m", "twice");
    expect(
      calls.map(({ method, url: path, body, headers }) => [method, path, body, headers["idempotency-key"]]),
    ).toEqual([
      ["POST", "/agent/runs", '{"prompt":"a"}', "once"],
      ["GET", "/agent/runs/a%2Fb/response", "", undefined],
      ["POST", "/agent/runs/run-2/followups", '{"message":"m"}', "twice"],
    ]);
    for (const { headers } of calls) expect(headers.authorization).toBe("Bearer ryr_key");
    const read = runs.read("run-2");
    await expect(read).rejects.toMatchObject({ name: "ValiError" });
    expect(RunItem.type).toBe("object");
  });

  it.each([
    [{ detail: "d", title: "t" }, "d"],
    [{ title: "t" }, "t"],
    [{}, "status 403"],
    ["no JSON", "status 403"],
  ])("are refused with %j", async (body, message) => {
    responses = [{ status: 403, body }];
    await expect(start().readFinalMessage("a")).rejects.toMatchObject({ name: "Error", message });
  });

  it("fail without stopping the execution, unless it stops", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      service.removeAllListeners("request");
      service.on("request", (request, response) => {
        request.resume();
        response.writeHead(503, { "retry-after": "90.001" }).end();
      });
      const limit = vi.spyOn(AbortSignal, "timeout");
      const failed = start().readFinalMessage("a");
      await expect(failed).rejects.toMatchObject({
        name: "Error",
        message: "the service could not be called: status 503",
      });
      expect(limit.mock.calls).toEqual([[20_000]]);
      const stopped = start(AbortSignal.abort(new Error("cancelled"))).readFinalMessage("a");
      await expect(stopped).rejects.toThrow("cancelled");
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
    }
  });
});

describe("call_mcp_tool", () => {
  const toolOf = (name: string, more: Partial<McpTool> = {}): McpTool => ({
    name,
    inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ...more,
  });
  const LOOK = toolOf("look", { description: " Looks\n at it. ", annotations: { readOnlyHint: true } });
  const CHANGE = toolOf("change");

  const unlimited = createSlice(undefined);

  function start(tools: readonly McpTool[], result: object = { content: [] }, readsOnly = false, slice = unlimited) {
    const used: unknown[] = [];
    const settle = async (ended: AbortSignal) => {
      if (result instanceof Error) throw result;
      if (result instanceof Promise) await Promise.race([result, once(ended, "abort")]);
      ended.throwIfAborted();
    };
    const connection: McpConnection = {
      tools,
      async listTools(ended) {
        await settle(ended);
        return tools;
      },
      async call(...args) {
        used.push(args);
        await settle(args[2]);
        return { content: [], ...result };
      },
      close: async () => {},
    };
    const servers = [
      { name: "box", connection },
      { name: "gone", unavailable: "s3cr3t-value-of-the-run" },
    ];
    const tool = createCallMcpTool(servers, { redactor, readsOnly, slice });
    const use = (input: object, own = signal) => tool.run({ server: "box", ...input }, { id: "1", signal: own });
    return { tool, use, used };
  }

  const SCHEMA = '{"properties":{"a":{"type":"string"}},"required":["a"]}';
  it("is described by the tools of its servers, redacted", () => {
    const { tool } = start([LOOK, CHANGE]);
    expect(tool.description).toMatch(/^Calls a tool of one of this run's MCP servers/);
    expect(tool.description.split("\n\n").slice(1)).toEqual([
      `Server box:\n- look: Looks at it. Arguments: ${SCHEMA}\n- change:  Arguments: ${SCHEMA}`,
      "Server gone is not available: ***",
    ]);
    expect(start([toolOf("a", { inputSchema: { type: "object" } })]).tool.description).toContain(
      '- a:  Arguments: {"properties":{},"required":[]}',
    );
    expect(start([]).tool.description).toContain("Server box:\n(no tools)");
    expect([tool.readsOnly, start([], {}, true).tool.readsOnly]).toEqual([false, true]);
  });

  it("truncates the description of a tool at 4 KiB, and names the others after 24 KiB", () => {
    const line = `- a:  Arguments: ${SCHEMA}`;
    const exact = toolOf("a", { description: "d".repeat(4_096 - line.length) });
    expect(start([exact]).tool.description).toContain(`${"d".repeat(4_096 - line.length)} Arguments: ${SCHEMA}`);
    const long = toolOf("a", { description: "d".repeat(5_000) });
    expect(start([long]).tool.description).toContain(
      `- a: ${"d".repeat(4_091)} [... truncated: list the server's tools]`,
    );
    const names = Array.from({ length: 8 }, (_, at) => ({ ...exact, name: `${at}` }));
    const lines = start(names).tool.description.split("\n");
    expect(lines.filter((one) => one.length > 4_000)).toHaveLength(6);
    expect(lines.slice(-4, -2)).toEqual(["- 6", "- 7"]);
  });

  it("lists the tools that may be used, and calls them", async () => {
    const { use, used } = start([LOOK, CHANGE], { content: [{ type: "text", text: "t" }] });
    const listed = ({ name, description, inputSchema }: McpTool) => ({ name, description, inputSchema });
    expect(await use({})).toEqual({ output: { tools: [LOOK, CHANGE].map(listed) } });
    expect(await use({ tool: "change", arguments: { a: "b" } })).toEqual({ isError: false, output: { text: "t" } });
    await use({ tool: "unlisted" });
    expect(used).toEqual([
      ["change", { a: "b" }, expect.any(AbortSignal)],
      ["unlisted", {}, expect.any(AbortSignal)],
    ]);
    const limited = start([LOOK, CHANGE], {}, true);
    expect(await limited.use({})).toEqual({ output: { tools: [listed(LOOK)] } });
    await limited.use({ tool: "look" });
    for (const tool of ["change", "unlisted"])
      await expect(limited.use({ tool })).rejects.toThrow(
        `${tool} may change something, which this run's mode does not allow`,
      );
    expect([limited.used.length, limited.tool.description.includes("change:")]).toEqual([1, false]);
  });

  it("has texts, descriptions of other parts, and structured content without a text", async () => {
    const parts = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "resource_link", uri: "u", name: "n", size: 1 },
      { type: "resource", resource: { uri: "u", text: "t" } },
      { type: "resource", resource: { uri: "u", blob: "AAAA" } },
      { type: "image", mimeType: "image/png", data: "AAAAAA" },
    ];
    const { use } = start([], { content: parts, structuredContent: { c: 1 }, isError: true });
    expect(await use({ tool: "a" })).toEqual({
      isError: true,
      output: {
        text: "a\nb",
        others: [
          { type: "resource_link", uri: "u", name: "n" },
          { type: "resource", uri: "u", text: "t" },
          { type: "resource", uri: "u" },
          { type: "image", mime_type: "image/png", size_bytes: 4, left_out: true },
        ],
      },
    });
    const data = start([], { structuredContent: { c: 1 } });
    expect(await data.use({ tool: "a" })).toEqual({ isError: false, output: { data: { c: 1 } } });
    const bytes = 48 * 1024;
    const ofLength = async (length: number) =>
      (await start([], { content: [{ type: "text", text: "x".repeat(length) }] }).use({ tool: "a" })).output;
    expect(await ofLength(bytes)).toEqual({ text: "x".repeat(bytes) });
    expect(await ofLength(bytes + 1)).toEqual({ text: `${"x".repeat(bytes)}\n[... truncated ...]` });
  });

  it("fails for unknown and unavailable servers, and names the server that failed", async () => {
    const { use } = start([], new Error("no"));
    await expect(use({ server: "none" })).rejects.toThrow("there is no server none; available servers: box, gone");
    await expect(use({ server: "gone" })).rejects.toThrow("the server gone is not available: s3cr3t");
    await expect(use({ tool: "a" })).rejects.toThrow("box: no");
    await expect(use({})).rejects.toThrow("box: no");
    await expect(use({ tool: "a" }, AbortSignal.abort(new Error("interrupted")))).rejects.toThrow(/^interrupted$/);
  });

  it("ends a call in time to save the work", async () => {
    const slice = { ...unlimited, stepsEndAt: Date.now() + 50 };
    const { use } = start([], new Promise(() => {}), false, slice);
    for (const input of [{ tool: "a" }, {}]) {
      await expect(use(input)).rejects.toThrow("box: the call was ended, because its sandbox had no time left");
    }
  });
});
