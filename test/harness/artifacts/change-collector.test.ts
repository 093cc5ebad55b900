import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandRequest, CommandResult } from "#harness/commands/command-runner.ts";
import { Refused } from "#harness/control-plane/control-plane.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createChangeCollector } from "#harness/reporting/change-collector.ts";
import type { ReportArtifactRequest } from "#shared/wire/executions/report-artifact.ts";

const SECRET = "a-known-secret-of-the-run";
const BASE = "b".repeat(40);
const HEAD = "a".repeat(64);
/** What the script prints. */
const report = (more: Readonly<Record<string, string>> = {}): string =>
  Object.entries({ base: BASE, head: HEAD, branch: "fix", commits: "2", omitted: "0", stat: "", ...more })
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");
const NUMBERS = { commits: 2, files_changed: 0, insertions: 0, deletions: 0 };
const GIT = { path: "shop", base_commit: BASE, head_commit: HEAD, branch: "fix", ...NUMBERS };

let host = "";
beforeEach(() => {
  host = mkdtempSync(join(tmpdir(), "changes-"));
});
afterEach(() => {
  vi.unstubAllGlobals();
  rmSync(host, { recursive: true });
});

interface Given {
  readonly patch?: string | Buffer;
  readonly text?: string;
  readonly exitCode?: number;
  readonly names?: readonly string[];
  readonly owner?: string;
  readonly commit?: string;
  readonly deadlineAt?: number;
  readonly limits?: { readonly fileBytes?: number; readonly patchBytes?: number };
  readonly upload?: boolean;
  readonly refusal?: Error;
}

/** A collector whose commands write this patch and print this text. */
function start(given: Given = {}) {
  const state: Given & { patch: string | Buffer } = { patch: "+a\n", ...given };
  const commands: CommandRequest[] = [];
  const reported: ReportArtifactRequest[] = [];
  const calls: unknown[] = [];
  const stop = new AbortController();
  const paths = (root: string) => ({ workspace: `${root}/w`, home: "/h", tmp: root, output: "/o", steps: "/s" });
  const collector = createChangeCollector({
    plane: {
      async reportArtifact(artifact) {
        if (state.refusal !== undefined) throw state.refusal;
        reported.push(artifact);
        const upload = { url: "https://storage.example/1", method: "PUT" as const, headers: { "x-a": "1" } };
        return { artifact_uid: "a", ...(state.upload === true ? { upload } : {}) };
      },
    },
    redactor: createRedactor([SECRET]),
    runner: {
      async run(options): Promise<CommandResult> {
        commands.push(options);
        mkdirSync(join(host, "runyard-changes"));
        writeFileSync(join(host, "runyard-changes/changes.diff"), state.patch);
        const { command, workingDirectory } = options;
        const { text = report(), exitCode = 0 } = state;
        return { command, exitCode, text, truncated: false, timedOut: false, durationMs: 1, workingDirectory };
      },
    },
    clones: (given.names ?? ["shop"]).map((name) => ({
      ...{ owner: given.owner ?? "acme", name, path: name.slice(0, 20), commit: given.commit ?? BASE },
    })),
    host: paths(host),
    seen: paths("/seen"),
    deadlineAt: given.deadlineAt ?? Date.now() + 3_600_000,
    signal: stop.signal,
    log: (...line) => void calls.push(line),
    ...(given.limits === undefined ? {} : { limits: given.limits }),
  });
  const collect = async () => {
    const left = await collector.collect(async () => void calls.push("before"));
    expect(existsSync(join(host, "runyard-changes"))).toBe(false);
    return left;
  };
  return { state, collect, commands, reported, calls, stop };
}

/** The details of the only patch. */
async function collectGit(given: Given): Promise<unknown> {
  const { collect, reported } = start(given);
  expect([await collect(), reported.length]).toEqual([[], 1]);
  return reported[0]?.artifact_type === "FILE" ? reported[0].data.git : undefined;
}

describe("createChangeCollector", () => {
  it("stores the patch of each repository with its details", async () => {
    const { collect, reported, commands, calls } = start({
      names: ["shop", "b"],
      text: report({ stat: " 3 files changed, 20 insertions(+), 1 deletion(-)" }),
    });
    expect(await collect()).toEqual([]);
    const data = (name: string) => ({
      filepath: `changes/${name}.diff`,
      filename: `${name}.diff`,
      mime_type: "text/x-diff",
      title: `Changes of acme/${name}: 3 files, +20 −1`,
      size_bytes: 3,
      sha256: createHash("sha256").update("+a\n").digest("hex"),
      git: { ...GIT, path: name, files_changed: 3, insertions: 20, deletions: 1 },
    });
    expect(reported).toStrictEqual(["shop", "b"].map((name) => ({ artifact_type: "FILE", data: data(name) })));
    expect(calls).toEqual(["before", "before"]);
    expect(commands.map(({ workingDirectory, timeoutMs }) => [workingDirectory, timeoutMs])).toEqual([
      ["/seen/w", 120_000],
      ["/seen/w", 120_000],
    ]);
    const { command = "" } = commands[0] ?? {};
    for (const part of ["cd -- /seen/w/shop\n", "patch=/seen/runyard-changes/changes.diff\n", `base=${BASE}\n`])
      expect(command.replaceAll("'", "")).toContain(part);
    expect(command).toContain(`-size +${5 * 1024 * 1024}c `);
  });

  it("stores a patch again only if it has changed", async () => {
    const { collect, reported, state, calls } = start();
    await collect();
    await collect();
    expect([reported.length, calls]).toEqual([1, ["before"]]);
    state.patch = "+b\n";
    await collect();
    expect([reported.length, calls]).toEqual([2, ["before", "before"]]);
    const empty = start({ patch: "" });
    expect([await empty.collect(), empty.reported, empty.calls]).toEqual([[], [], []]);
  });

  it("uploads a patch that is not stored yet, and confirms it", async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal("fetch", async (url: string, { method, headers, body }: RequestInit) => {
      bodies.push([url, method, headers, body instanceof Blob ? [body.type, await body.text()] : body]);
      return new Response(null);
    });
    const { collect, reported } = start({ upload: true });
    expect(await collect()).toEqual([]);
    expect(bodies).toEqual([["https://storage.example/1", "PUT", { "x-a": "1" }, ["text/x-diff", "+a\n"]]]);
    expect([reported.length, reported[0]]).toEqual([2, reported[1]]);
  });

  it("continues after a failure, reports why, and retries later", async () => {
    const { collect, reported, state, calls } = start({ names: ["shop", "b"], refusal: new Error(`no ${SECRET}`) });
    expect(await collect()).toEqual(["the change of shop: no ***", "the change of b: no ***"]);
    const warning = (repository: string) => [
      ...["warn", "the change of a repository was not stored", { repository, detail: "no ***" }],
    ];
    expect(calls).toEqual(["before", warning("shop"), "before", warning("b")]);
    Object.assign(state, { refusal: new Refused("said", "too many artifacts") });
    expect(await collect()).toEqual(["the change of shop: too many artifacts", "the change of b: too many artifacts"]);
    Object.assign(state, { refusal: undefined });
    expect([await collect(), reported.length]).toEqual([[], 2]);
  });

  it("ends when the execution stops", async () => {
    const { collect, stop, calls } = start({ refusal: new Error("cut") });
    stop.abort(new Error("over"));
    await expect(collect()).rejects.toThrow("over");
    expect(calls).toEqual(["before"]);
  });

  it.each<[string, Given, string]>([
    ["a failed command", { exitCode: 7, text: ` ${"x".repeat(400)}\n` }, `exit code 7: ${"x".repeat(300)}`],
    ["more bytes than the limit", { limits: { patchBytes: 2 } }, "the patch has more than 2 bytes"],
    ["more than 10 MiB", { patch: "x".repeat(10 * 1024 * 1024 + 1) }, "the patch has more than 10485760 bytes"],
  ])("does not store the patch of %s", async (_, given, detail) => {
    const { collect, reported } = start(given);
    const reason = given.exitCode === undefined ? detail : `git ended with ${detail}`;
    expect([await collect(), reported]).toEqual([[`the change of shop: ${reason}`], []]);
  });

  it("compares until the deadline, and leaves out files by the limit", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    const found: unknown[] = [];
    for (const left of [119_999, 120_001, -5]) {
      const { collect, commands } = start({ deadlineAt: 1_000_000 + left, limits: { fileBytes: 77, patchBytes: 3 } });
      expect(await collect()).toEqual([]);
      expect(commands[0]?.command).toContain("-size +77c ");
      found.push(commands[0]?.timeoutMs);
    }
    vi.useRealTimers();
    expect(found).toEqual([119_999, 120_000, 1]);
  });

  it.each([
    [{ head: "" }, { head_commit: undefined }],
    [{ branch: "" }, { branch: undefined }],
    [{ branch: `${SECRET}\0` }, { branch: "***\ufffd" }],
    [{ branch: "x".repeat(201) }, { branch: "x".repeat(200) }],
    [{ omitted: "3" }, { files_omitted: 3 }],
    [{ commits: "999999999", extra: "1" }, { commits: 999_999_999 }],
    [{ stat: " 1 file changed, 1 insertion(+)" }, { files_changed: 1, insertions: 1 }],
    [{ stat: " 12 files changed, 34 deletions(-)" }, { files_changed: 12, deletions: 34 }],
  ])("reads %j", async (printed, git) => {
    expect(await collectGit({ text: `noise\nx base ${HEAD}\n${report(printed)}` })).toEqual({ ...GIT, ...git });
    expect(await collectGit({ text: report(printed).replaceAll("\n", " \r\n").replace("head  ", "head") })).toEqual({
      ...{ ...GIT, ...git },
    });
  });

  it.each([
    [{ base: "main" }],
    [{ head: "main" }],
    [{ commits: "1234567890" }],
    [{ commits: "-1" }],
    [{ omitted: "1x" }],
    [{ omitted: "" }],
  ])("refuses %j", async (printed) => {
    const { collect, reported } = start({ text: report(printed) });
    expect([(await collect()).length, reported]).toEqual([1, []]);
  });

  it.each([
    ["utf8", `+ä ${SECRET}\n`, "+ä ***\n"],
    ["latin1", `+ä ${SECRET}\n`, "+ä ***\n"],
    ["latin1", "+ä\n", undefined],
    ["utf8", "+ä\n", undefined],
  ] as const)("redacts a patch in %s, and keeps its encoding: %j", async (encoding, patch, redacted) => {
    const { collect, reported } = start({ patch: Buffer.from(patch, encoding) });
    expect(await collect()).toEqual([]);
    const bytes = Buffer.from(redacted ?? patch, encoding);
    expect(reported).toMatchObject([
      { data: { size_bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") } },
    ]);
    const git = reported[0]?.artifact_type === "FILE" ? reported[0].data.git : undefined;
    expect(git).toStrictEqual({ ...GIT, ...(redacted === undefined ? {} : { redacted: true }) });
  });

  it("shortens long names, and masks users of addresses", async () => {
    const { collect, reported } = start({
      names: ["x".repeat(600)],
      owner: "https://user:pass@host",
      text: report({ stat: "1 file changed" }),
    });
    await collect();
    const title = `Changes of https://***@host/${"x".repeat(600)}`.slice(0, 500);
    expect(reported).toMatchObject([{ data: { filename: `${"x".repeat(200)}.diff`, title } }]);
    const one = start({ text: report({ stat: "1 file changed" }) });
    await one.collect();
    expect(one.reported).toMatchObject([{ data: { title: "Changes of acme/shop: 1 file, +0 −0" } }]);
  });
});
