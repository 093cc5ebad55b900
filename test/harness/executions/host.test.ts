import childProcess from "node:child_process";
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { checkIsolation, prepareHost } from "#harness/isolation/host.ts";
import { startLaunch } from "#harness/isolation/launch.ts";
import { openProcessGroup } from "#harness/isolation/process-group.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import type { Sandbox } from "#harness/isolation/sandbox.ts";
import { listNamespaceDescriptors } from "../support/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "host-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const real = findProgram("bwrap") ?? "";
const counted = join(folder, "count");

/** Puts this bwrap in PATH in place of the machine's own, which is `$REAL`, and counts its calls. */
function replaceBwrap(script: string): void {
  const bin = mkdtempSync(join(folder, "bin-"));
  rmSync(counted, { force: true });
  const lines = ["#!/bin/bash", `REAL='${real}'; echo x >> '${counted}'; COUNT=$(wc -l < '${counted}')`, script, ""];
  writeFileSync(join(bin, "bwrap"), lines.join("\n"), { mode: 0o755 });
  vi.stubEnv("PATH", `${bin}:${process.env["PATH"] ?? ""}`);
}
const countCalls = () => (existsSync(counted) ? readFileSync(counted, "utf8").length / 2 : 0);

const BROKEN = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1";
const WORKING = 'exec "$REAL" "$@"';
const FAILS_WITHOUT_NETWORK_ONLY = `[[ " $* " == *" --unshare-net "* ]] && ${WORKING}; echo no network >&2; exit 1`;
const UNFILTERABLE = `[[ " $* " == *" --seccomp "* ]] && exit 1; ${WORKING}`;

const run = { runId: "run-1", marker: {} };

/** The lines that a script prints in the sandbox of a host. */
async function print(sandbox: Sandbox, steps: string, script: string): Promise<string[]> {
  writeFileSync(join(steps, "step.sh"), `${script}\n`);
  const [output] = await Promise.all(startLaunch(sandbox.launch("step.sh")).output.map(text));
  return String(output).trim().split("\n");
}

/** Whether this machine has the programs for a network of commands; the kernel may still forbid it. */
const hasNetworkPrograms = ["unshare", "nsenter", "ip", "slirp4netns"].every((name) => findProgram(name) !== undefined);

/** Whether this machine lets commands have a network. */
async function hasNetwork(): Promise<boolean> {
  const report = await checkIsolation();
  return report.network;
}

it("startLaunch opens no more than four descriptors for a program without a filter and hidden arguments", async () => {
  const launched = startLaunch({ file: "/bin/true", args: [], env: {}, cwd: "/" });
  expect(launched.process.stdio).toHaveLength(4);
  expect(await Promise.all(launched.output.map(text))).toEqual(["", ""]);
});

describe("prepareHost", () => {
  it.each(["machine", "none"])("needs no boundary for the isolation %s", async (isolation) => {
    vi.stubEnv("RUNYARD_SANDBOX", isolation);
    const host = await prepareHost();
    const { kind, contained, network, paths } = host.sandbox(run);
    expect({ contained: host.contained, sandbox: { kind, contained, network, paths } }).toEqual({
      contained: false,
      sandbox: { kind: isolation, contained: false, network: true, paths: host.workspace.paths },
    });
    await host.close();
    expect(existsSync(host.workspace.root)).toBe(false);
  });

  it.each([
    ["bubblewrap", "Seccomp:\t2"],
    ["bubblewrap-unfiltered", "Seccomp:\t0"],
  ])("tries the boundary of %s once before the first command", async (isolation, filter) => {
    const trial = openProcessGroup({ processes: 10, memoryBytes: 2 ** 30 });
    await trial?.close();
    replaceBwrap(WORKING);
    vi.stubEnv("RUNYARD_SANDBOX", isolation);
    const host = await prepareHost();
    const tried = countCalls();
    expect([host.contained, tried]).toEqual([true, 1]);
    const sandbox = host.sandbox(run);
    expect([sandbox.kind, sandbox.network]).toEqual(["bubblewrap", await hasNetwork()]);
    const script = "id -u; grep -E '^Seccomp:' /proc/self/status; pwd";
    expect(await print(sandbox, host.workspace.paths.steps, script)).toEqual(["1000", filter, "/workspace"]);
    const { file, args } = sandbox.launch("step.sh");
    const groups = [file, ...args].filter((argument) => argument.endsWith("/cgroup.procs"));
    const members = trial?.enter.filter((argument) => argument.endsWith("/cgroup.procs")) ?? [];
    expect(groups.map((path) => existsSync(path))).toEqual(members.map(() => true));
    await host.close();
    expect(existsSync(host.workspace.root)).toBe(false);
    expect([groups.filter((path) => existsSync(path)), listNamespaceDescriptors()]).toEqual([[], []]);
  });

  it("gives commands no network if the boundary works only without one", async () => {
    replaceBwrap(FAILS_WITHOUT_NETWORK_ONLY);
    const host = await prepareHost();
    const { kind, network } = host.sandbox(run);
    expect({ kind, network }).toEqual({ kind: "bubblewrap", network: false });
    await host.close();
  });

  it("tries the boundary three times, and fails with the reason of the last try", async () => {
    replaceBwrap(`echo "bwrap: $COUNT" >&2; exit 1`);
    const host = await prepareHost();
    const tries = hasNetworkPrograms ? 6 : 3;
    expect([host.contained, countCalls()]).toEqual([false, tries]);
    expect(() => host.sandbox(run)).toThrow(`the isolation boundary (bubblewrap) could not be set up: bwrap: ${tries}`);
    await host.close();
    expect(existsSync(host.workspace.root)).toBe(false);
  });

  it("uses the boundary of a later try", async () => {
    replaceBwrap(`[ "$COUNT" -gt 2 ] && ${WORKING}; ${BROKEN}`);
    const host = await prepareHost();
    expect([host.contained, countCalls(), host.sandbox(run).kind]).toEqual([true, 3, "bubblewrap"]);
    await host.close();
  });

  it.each([
    ["network", true],
    ["no-network", false],
  ])("does not try a boundary that was tried on this machine: %s", async (tried, withNetwork) => {
    const network = withNetwork && (await hasNetwork());
    replaceBwrap(WORKING);
    vi.stubEnv("RUNYARD_SANDBOX_TRIED", tried);
    const host = await prepareHost();
    expect([host.contained, countCalls(), host.sandbox(run).network]).toEqual([true, 0, network]);
    await host.close();
  });

  it("fails if bwrap is set but not installed", async () => {
    vi.stubEnv("PATH", "/nowhere");
    vi.stubEnv("RUNYARD_SANDBOX", "bubblewrap");
    const host = await prepareHost();
    expect(host.contained).toBe(false);
    expect(() => host.sandbox(run)).toThrow(
      expect.objectContaining({
        kind: "unreachable",
        message: "the isolation boundary (bubblewrap) could not be set up: bwrap is not installed",
      }),
    );
    await host.close();
    expect(existsSync(host.workspace.root)).toBe(false);
  });

  it("fails for an unknown setting, and still removes its directories", async () => {
    vi.stubEnv("RUNYARD_SANDBOX", "bublewrap");
    const host = await prepareHost();
    expect(host.contained).toBe(false);
    expect(() => host.sandbox(run)).toThrow('not "bublewrap"');
    await host.close();
    expect(existsSync(host.workspace.root)).toBe(false);
  });
});

describe("checkIsolation", () => {
  it("reports bubblewrap, without a reason, if it works", async () => {
    expect(await checkIsolation()).toEqual({
      ...{ isolation: "bubblewrap", network: await hasNetwork() },
      limits: {
        memory: expect.stringMatching(/^(kernel|harness)$/),
        ...{ disk: "harness", files: "harness" },
        processes: expect.stringMatching(/^(kernel|harness)$/),
      },
    });
  });

  it("reports bubblewrap without a filter, with the reason, if the kernel filters nothing", async () => {
    replaceBwrap(UNFILTERABLE);
    expect(await checkIsolation()).toMatchObject({
      isolation: "bubblewrap-unfiltered",
      reason: "it ended with exit code 1",
    });
  });

  it("reports none with the first reason if bubblewrap does not work", async () => {
    replaceBwrap(`[[ " $* " == *" --seccomp "* ]] && ${BROKEN}; exit 3`);
    expect(await checkIsolation()).toEqual({
      isolation: "none",
      network: true,
      reason: "bwrap: setting up uid map: Permission denied",
    });
  });

  it("reports no more than 300 characters of a reason", async () => {
    replaceBwrap("printf 'x%.0s' {1..500} >&2; exit 1");
    expect((await checkIsolation()).reason).toBe("x".repeat(300));
  });

  it("reports none if bwrap is not installed or cannot be started", async () => {
    replaceBwrap("exit");
    writeFileSync(join((process.env["PATH"] ?? "").split(":")[0] ?? "", "bwrap"), "no program", { mode: 0o755 });
    const report = await checkIsolation();
    expect([report.isolation, report.network]).toEqual(["none", true]);
    vi.stubEnv("PATH", "/nowhere");
    expect(await checkIsolation()).toEqual({ isolation: "none", network: true, reason: "bwrap is not installed" });
  });

  it("reports none if the system is not Linux", async () => {
    vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
    expect(await checkIsolation()).toEqual({ isolation: "none", network: true, reason: "bubblewrap needs Linux" });
  });

  it("opens no network and no process group if bwrap is not installed", async () => {
    const bin = mkdtempSync(join(folder, "bin-"));
    for (const name of ["unshare", "nsenter", "slirp4netns"]) symlinkSync("/bin/false", join(bin, name));
    vi.stubEnv("PATH", bin);
    const [starting, making] = [vi.spyOn(childProcess, "spawn"), vi.spyOn(fs, "mkdirSync")];
    syncBuiltinESMExports();
    const report = await checkIsolation();
    expect(report.reason).toBe("bwrap is not installed");
    expect(starting).not.toHaveBeenCalled();
    expect(making.mock.calls.filter(([path]) => String(path).endsWith(`/runyard-${process.pid}`))).toEqual([]);
  });

  it("leaves no directory", async () => {
    const own = mkdtempSync(join(folder, "tmp-"));
    vi.stubEnv("TMPDIR", own);
    await checkIsolation();
    expect(readdirSync(own)).toEqual([]);
  });
});
