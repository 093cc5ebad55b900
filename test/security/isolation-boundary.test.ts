import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { decideIsolation } from "../../server/host/isolation.ts";
import { mutationVariables, runHarness } from "../harness/support/run-harness.ts";

const CHECK = fileURLToPath(new URL("../../harness/isolation-main.ts", import.meta.url));
const attack = "```sh\ncat /etc/shadow; echo unprotected\n```\n";

describe("the isolation boundary", () => {
  let folder: string;
  let real: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isolation-"));
    const { stdout } = await promisify(execFile)("sh", ["-c", "command -v bwrap"]);
    real = stdout.trim();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A PATH on which bwrap is this script; `$REAL` is the one of this host, and `$COUNT` a file to count calls in. */
  async function pathWith(script: string): Promise<string> {
    const bin = await mkdtemp(join(folder, "bin-"));
    await writeFile(
      join(bin, "bwrap"),
      `#!/bin/bash\nREAL='${real}'; COUNT='${bin}/count'\necho x >> "$COUNT"\n${script}\n`,
    );
    await chmod(join(bin, "bwrap"), 0o755);
    return `${bin}:${process.env["PATH"] ?? ""}`;
  }
  const countTrials = async (path: string): Promise<number> =>
    (await readFile(join(path.split(":")[0] ?? "", "count"), "utf8")).split("\n").length - 1;

  const broken = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1";
  const exhausted = "echo 'bwrap: Creating new namespace failed: Resource temporarily unavailable' >&2; exit 1";
  const unfilterable = 'for word in "$@"; do [ "$word" = --seccomp ] && exit 1; done; exec "$REAL" "$@"';

  test.concurrent.each([
    ["does not work", broken, {}],
    ["does not work, and is required", broken, { RUNYARD_SANDBOX: "bubblewrap" }],
    ["reaches a process limit", exhausted, {}],
    ["can no longer filter system calls", unfilterable, {}],
    ["can no longer filter system calls, and is required", unfilterable, { RUNYARD_SANDBOX: "bubblewrap" }],
    ["exits without output", "exit 3", {}],
    ["has stopped working after the start", broken, { RUNYARD_SANDBOX_TRIED: "network" }],
    ["has stopped filtering system calls after the start", unfilterable, { RUNYARD_SANDBOX_TRIED: "network" }],
    ["exits without output after the start", "exit 3", { RUNYARD_SANDBOX_TRIED: "no-network" }],
    ["works, but the setting is unknown", 'exec "$REAL" "$@"', { RUNYARD_SANDBOX: "bublewrap" }],
  ])("runs no command and fails the execution if bubblewrap %s", async (_, script, environment) => {
    await using plane = await FakeControlPlane.start({ prompt: attack });
    const { code, log } = await runHarness(plane, { PATH: await pathWith(script), ...environment });
    expect(code, "the execution fails, so the service tries again").toBe(1);
    expect(plane.outputs).toEqual([]);
    expect(plane.everything).not.toContain("unprotected");
    expect(plane.shutdown).toMatchObject({ error: { category: "unreachable" } });
    expect(JSON.stringify(plane.shutdown)).toContain("the isolation boundary (bubblewrap) could not be set up");
    expect(log).not.toContain('"sandbox":"none"');
  });

  test("fails the execution if bubblewrap existed at start and is gone", async () => {
    await using plane = await FakeControlPlane.start({ prompt: attack });
    const environment = { PATH: folder, RUNYARD_SANDBOX: "bubblewrap" };
    const bare = await mkdtemp(join(folder, "bare-"));
    const { code } = await runHarness(plane, { ...environment, PATH: bare });
    expect(code).toBe(1);
    expect(plane.outputs).toEqual([]);
  });

  test("is tried again for a few seconds before the execution fails", async () => {
    const path = await pathWith(`[ "$(wc -l < "$COUNT")" -le 4 ] && { ${exhausted}; }; exec "$REAL" "$@"`);
    await using plane = await FakeControlPlane.start({ prompt: "```sh\nid -u\n```\n" });
    const { code, log } = await runHarness(plane, { PATH: path });
    expect([code, log]).toEqual([0, expect.stringContaining('"sandbox":"bubblewrap"')]);
    expect(plane.outputs).toEqual(["1000\n"]);
    expect(await countTrials(path)).toBeGreaterThan(4);
  });

  test("is not tried by each execution if it was tried at start", async () => {
    const path = await pathWith('exec "$REAL" "$@"');
    await using plane = await FakeControlPlane.start({ prompt: "```sh\nid -u; exit 3\n```\n" });
    const { code } = await runHarness(plane, { PATH: path, RUNYARD_SANDBOX_TRIED: "network" });
    expect([code, plane.outputs]).toEqual([0, ["1000\n"]]);
    expect(await countTrials(path), "only for the command").toBe(1);
  });

  describe("is decided at start by running bubblewrap", () => {
    async function check(path: string): Promise<unknown> {
      const { stdout } = await promisify(execFile)(process.execPath, [CHECK], {
        env: { PATH: path, ...mutationVariables() },
      });
      return JSON.parse(stdout);
    }

    test("reports bubblewrap if it works", async () => {
      expect(await check(process.env["PATH"] ?? "")).toMatchObject({ isolation: "bubblewrap" });
    });

    test("reports no isolation with the reason if bubblewrap does not work, is silent or is missing", async () => {
      expect(await check(await pathWith(broken))).toEqual({
        isolation: "none",
        network: true,
        reason: "bwrap: setting up uid map: Permission denied",
      });
      expect(await check(await pathWith("exit 3"))).toMatchObject({
        isolation: "none",
        reason: "it ended with exit code 3",
      });
      expect(await check(await mkdtemp(join(folder, "bare-")))).toMatchObject({
        isolation: "none",
        reason: "bwrap is not installed",
      });
    });

    test("reports bubblewrap without a filter if the kernel filters nothing", async () => {
      expect(await check(await pathWith(unfilterable))).toMatchObject({ isolation: "bubblewrap-unfiltered" });
    });

    /** Returns the decision and the output of the start. */
    async function runDecision(path: string, setting?: string): Promise<{ decided: string; printed: string }> {
      const script = `
        import { decideIsolation } from ${JSON.stringify(fileURLToPath(new URL("../../server/host/isolation.ts", import.meta.url)))};
        const decided = await decideIsolation(process.env.RUNYARD_SANDBOX);
        console.log("decided", decided.isolation);`;
      const env = { PATH: path, ...(setting === undefined ? {} : { RUNYARD_SANDBOX: setting }) };
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env });
      return { decided: /^decided (.*)$/m.exec(stdout)?.[1] ?? "", printed: stdout };
    }

    test("passes bubblewrap on to every execution of the start", async () => {
      expect((await runDecision(process.env["PATH"] ?? "")).decided).toBe("bubblewrap");
    });

    test("warns about missing isolation, with the reason and the remedy", async () => {
      const { decided, printed } = await runDecision(await pathWith(broken));
      expect(decided).toBe("none");
      expect(printed).toContain("ISOLATION: NONE");
      expect(printed).toContain("Permission denied");
      expect(printed).toContain("They run as you");
      expect(printed).toContain(process.platform === "linux" ? "apt-get install bubblewrap" : "Linux VM");
      expect((await runDecision(process.env["PATH"] ?? "", "none")).printed).toContain("ISOLATION: NONE");
    });

    test("refuses to start if bubblewrap is required and does not work", async () => {
      await expect(runDecision(await pathWith(broken), "bubblewrap")).rejects.toThrow("does not work here");
    });

    test("does not change a dedicated machine", async () => {
      expect(await decideIsolation("machine")).toEqual({ isolation: "machine" });
    });
  });

  test.each([
    ["none", "isolation: none"],
    ["machine", "isolation: machine"],
    ["bubblewrap", "isolation: bubblewrap"],
  ])("is named in the timeline of a run (%s)", async (setting, wanted) => {
    await using plane = await FakeControlPlane.start({ prompt: "```sh\ntrue\n```\n" });
    await runHarness(plane, { RUNYARD_SANDBOX: setting });
    const started = plane.events.find(({ event_name }) => event_name === "agent_started");
    expect(started?.payload?.detail).toContain(wanted);
  });
});
