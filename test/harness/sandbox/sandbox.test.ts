import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { newMark, sleepers } from "../support/processes.ts";
import { runHarness, startHarness } from "../support/run-harness.ts";

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");
const inBubblewrap = { RUNYARD_SANDBOX: "bubblewrap" };

/** Returns what these commands print inside bubblewrap. */
async function outputs(...commands: string[]): Promise<string[]> {
  await using plane = await FakeControlPlane.start({ prompt: sh(...commands) });
  const { code, log } = await runHarness(plane, { ...inBubblewrap, PLANTED: "planted-in-the-environment" });
  expect([code, log]).toEqual([0, expect.stringContaining('"sandbox":"bubblewrap"')]);
  return plane.outputs;
}

describe("a command in bubblewrap", () => {
  it("finds neither a key nor the host's environment or processes", async () => {
    await using plane = await FakeControlPlane.start({ prompt: "" });
    // The bracketed letter keeps the pattern from matching itself in its script and in grep's arguments.
    const pattern = `${plane.key.slice(0, -1)}[${plane.key.slice(-1)}]`;
    plane.prompt = sh(
      "env | sort",
      `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c "${pattern}" || true`,
      `grep -rsc "${pattern}" /tmp /home /run /workspace /etc 2>/dev/null | grep -v ':0$' || true`,
      "cat /proc/[0-9]*/comm",
    );
    await runHarness(plane, { ...inBubblewrap, PLANTED: "planted-in-the-environment" });
    const [environment = "", processes, files = "", others = ""] = plane.outputs;
    const names = environment
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    const allowed =
      "HOME LANG LOGNAME OLDPWD PATH PWD RUNYARD_ATTACHMENTS RUNYARD_OUTPUT RUNYARD_RUN_ID RUNYARD_WORKSPACE SHELL SHLVL TERM TMPDIR USER _".split(
        " ",
      );
    expect(names.filter((name) => !allowed.includes(name ?? ""))).toEqual([]);
    expect(processes?.trim()).toBe("0");
    expect(files.trim()).toBe("");
    expect(others).not.toMatch(/node|slirp|unshare/);
    expect(plane.everything).not.toContain("planted-in-the-environment");
  });

  it("can access neither the host's files nor another run's", async () => {
    const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
    writeFileSync(join(folder, "private"), "private words");
    const [listing, read, own] = await outputs(
      `ls -a ${tmpdir()}`,
      `cat ${join(folder, "private")} ${homedir()}/.ssh/* ${process.cwd()}/package.json /etc/shadow 2>/dev/null || true`,
      "ls -d /* | tr '\\n' ' '",
    );
    rmSync(folder, { recursive: true });
    expect(listing).toBe(".\n..\n");
    expect(read).toBe("");
    expect(own).not.toMatch(/\/(root|var|srv|mnt|sys|boot|work)\b/);
  });

  it.each(["bubblewrap", "none"])("inherits no open descriptor of the harness (%s)", async (sandbox) => {
    await using plane = await FakeControlPlane.start({
      prompt: sh("ls -l /proc/1/fd /proc/$$/fd /proc/self/fd | grep -o ' [0-9]* -> .*'"),
    });
    await startHarness(plane, { RUNYARD_SANDBOX: sandbox }, undefined, "/dev/full").ended;
    expect(plane.outputs[0]).toContain(" 0 -> /dev/null");
    expect(plane.outputs[0]).not.toContain("/dev/full");
  });

  it("can write only to its workspace, home and temporary directory", async () => {
    const [kept, refused] = await outputs(
      "touch /workspace/a ~/b /tmp/c",
      "ls /workspace/a ~/b /tmp/c; for d in / /usr /usr/bin /etc /run/runyard /opt/node/bin; do touch $d/x 2>/dev/null && echo $d; done; true",
    );
    expect(kept).toBe("");
    expect(refused).toBe("/home/agent/b\n/tmp/c\n/workspace/a\n");
  });

  it("has no identity on the host, and cannot change its user", async () => {
    const [identity] = await outputs(
      "id -u; grep CapEff /proc/self/status; unshare --net true 2>/dev/null && echo namespaces; true",
    );
    expect(identity).toMatch(/^1000\nCapEff:\t0000000000000000\n/);
  });

  it("cannot reach services on the host's loopback, or the cloud's metadata", async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const reach = (host: string, at: number | undefined) =>
      `(exec 4<>/dev/tcp/${host}/${at}) 2>/dev/null && echo reached || echo refused`;
    const printed = await outputs(
      reach("127.0.0.1", port),
      reach("10.0.2.2", port),
      reach("169.254.169.254", 80),
      reach("169.254.170.2", 80),
    );
    server.close();
    expect(printed).toEqual(["refused\n", "refused\n", "refused\n", "refused\n"]);
  });

  it("has git, python, node and tar", async () => {
    const [versions] = await outputs(
      "git --version; python3 --version; node --version; tar --version | head -1; git init -q x && cd x && git status -s",
    );
    expect(versions).toMatch(/git version .*\nPython 3.*\nv\d+.*\ntar /);
  });

  it("dies when its harness is killed", async () => {
    const mark = newMark();
    const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
    await using plane = await FakeControlPlane.start({ prompt: sh(`setsid sleep ${mark} & sleep ${mark}`) });
    const harness = startHarness(plane, { ...inBubblewrap, TMPDIR: folder });
    await expect.poll(() => sleepers(mark)).toBe(2);
    harness.process.kill("SIGKILL");
    await harness.ended;
    await expect.poll(() => sleepers(mark)).toBe(0);
    rmSync(folder, { recursive: true });
  });
});

describe("without bubblewrap", () => {
  it("a command gets the same clean environment", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("env", "pwd; echo $RUNYARD_OUTPUT") });
    const { log } = await runHarness(plane, { RUNYARD_SANDBOX: "none", PLANTED: "planted-in-the-environment" });
    expect(log).toContain('"sandbox":"none"');
    expect(plane.outputs[0]).not.toContain("planted");
    expect(plane.outputs[1]).toMatch(/^(\/.*\/workspace)\n\1\/output\n$/);
  });
});
