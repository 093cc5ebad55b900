import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { measureExecution } from "../support/execution-time.ts";
import { runHarness, startHarness } from "../support/run-harness.ts";

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");

/** Executes a run in sandboxes with this lifetime until it ends, and returns their number. */
async function runInSlices(
  plane: FakeControlPlane,
  lifetimeMs: number,
  environment: Record<string, string> = {},
): Promise<number> {
  plane.lifetimeMs = lifetimeMs;
  for (let slices = 1; slices < 60; slices++) {
    plane.shutdown = undefined;
    const { code, log } = await runHarness(plane, environment);
    expect(code, log).toBe(0);
    if (plane.outcome !== undefined) return slices;
    expect(plane.shutdown, log).toMatchObject({ error: { category: "slice_ended" } });
  }
  throw new Error("it never ended");
}

/** The reports of files, in order; the two reports of each file are equal. */
const listFiles = (plane: FakeControlPlane): string[] => [
  ...new Set(plane.callsTo("report-artifact").map(({ raw }) => raw.toString())),
];

/** Of the time that an uninterrupted run takes on this machine, the part that a slice has. */
const SHARE = 0.6;

/**
 * Returns for how many seconds each step of a run sleeps: longer on a slower machine, because a tenth of a slice must be enough for saving
 * the workspace.
 */
const findPause = async (minSeconds: number, environment?: Record<string, string>): Promise<number> =>
  Math.max(minSeconds, (await measureExecution(environment)) / 3_000);

const buildSteps = (pause: number) =>
  Array.from({ length: 16 }, (_, index) =>
    [
      `echo step ${index} | tee -a "$OLDPWD/../log.txt" 2>/dev/null || echo step ${index}`,
      index === 0 ? "mkdir deep && cd deep" : "pwd | sed 's|.*/||'",
      `echo ${index} >> "$RUNYARD_OUTPUT/steps.txt"; sleep ${pause}`,
    ].join("\n"),
  );

describe.concurrent("a run of several slices", () => {
  // @contract runs.transitions.slices
  it("has the messages and files of an uninterrupted run", async () => {
    const prompt = sh(...buildSteps(await findPause(1)));
    await using whole = await FakeControlPlane.start({ prompt });
    const begun = Date.now();
    expect(await runInSlices(whole, 900_000)).toBe(1);
    await using cut = await FakeControlPlane.start({ prompt });
    const slices = await runInSlices(cut, SHARE * (Date.now() - begun));
    expect(slices).toBeGreaterThanOrEqual(3);
    expect(cut.outputs).toEqual(whole.outputs);
    expect(cut.texts).toEqual(whole.texts);
    expect(cut.outcome).toEqual(whole.outcome);
    expect(cut.messages.map(({ role }) => role)).toEqual(whole.messages.map(({ role }) => role));
    expect(cut.artifacts.get("steps.txt")?.toString()).toBe(whole.artifacts.get("steps.txt")?.toString());
    expect(listFiles(cut)).toEqual(listFiles(whole));
  }, 900_000);

  it("keeps the working directory where each execution has a workspace of another path", async () => {
    const pause = await findPause(1.5, { RUNYARD_SANDBOX: "none" });
    const commands = Array.from({ length: 10 }, () => `basename $PWD; sleep ${pause}`);
    const prompt = sh("mkdir deep; cd deep", ...commands);
    await using whole = await FakeControlPlane.start({ prompt });
    const begun = Date.now();
    await runInSlices(whole, 900_000, { RUNYARD_SANDBOX: "none" });
    await using plane = await FakeControlPlane.start({ prompt });
    const lifetimeMs = SHARE * (Date.now() - begun);
    expect(await runInSlices(plane, lifetimeMs, { RUNYARD_SANDBOX: "none" })).toBeGreaterThan(1);
    expect(plane.outputs).toEqual(["", ...commands.map(() => "deep\n")]);
    expect(plane.outcome).toMatchObject({ success: true });
  }, 900_000);

  it("finishes at least one step per slice, however short its time is", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo one", "echo two", "echo three") });
    plane.lifetimeMs = 3_000;
    plane.delays.set("resolve-prompt", 2_200);
    expect((await runHarness(plane)).code).toBe(0);
    expect(plane.outputs.length).toBeGreaterThanOrEqual(1);
  });
});

describe("the workspace", () => {
  it("is restored for a follow-up in a new execution, in the same working directory", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("mkdir made && echo kept > made/file") });
    await runHarness(plane);
    expect(plane.outcome).toMatchObject({ success: true });
    plane.outcome = undefined;
    plane.addFollowup(sh("cat made/file"));
    const { code, log } = await runHarness(plane);
    expect([code, plane.outcome], log).toMatchObject([0, { success: true }]);
    expect(plane.outputs.at(-1)).toBe("kept\n");
  });

  it("records which files are artifacts, so that a follow-up does not store them again", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh('echo one > "$RUNYARD_OUTPUT/one.txt"') });
    await runHarness(plane);
    const before = plane.callsTo("report-artifact").length;
    plane.outcome = undefined;
    plane.addFollowup(sh('cat "$RUNYARD_OUTPUT/one.txt"; echo two > "$RUNYARD_OUTPUT/two.txt"'));
    await runHarness(plane);
    const reports = plane.callsTo("report-artifact").slice(before);
    expect(plane.outputs.at(-1)).toBe("one\n");
    expect(new Set(reports.map(({ raw }): unknown => JSON.parse(raw.toString()).data.filename))).toEqual(
      new Set(["two.txt"]),
    );
  });

  it("is not saved if it is empty", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo nothing") });
    await runHarness(plane);
    expect(plane.callsTo("upload-snapshot")).toEqual([]);
    expect(plane.outcome).toMatchObject({ success: true });
  });

  it("is saved empty at the end of a run if an earlier checkpoint has files, which would return with a follow-up", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo old > file") });
    await runHarness(plane);
    for (const command of ["rm file", "ls"]) {
      plane.outcome = undefined;
      plane.addFollowup(sh(command));
      await runHarness(plane);
    }
    expect([plane.outputs, plane.outcome]).toMatchObject([["", "", "output\n"], { success: true }]);
    expect(plane.callsTo("commit-snapshot")).toHaveLength(2);
  });

  it("is saved empty before a follow-up is taken up, so that a loss does not repeat the turn before it", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo once") });
    plane.addFollowup(sh("echo more"));
    await runHarness(plane);
    expect([plane.outputs, plane.outcome]).toMatchObject([["once\n", "more\n"], { success: true }]);
    const { path: before } =
      plane.calls[plane.calls.findIndex(({ path }) => path.endsWith("commit-snapshot")) - 1] ?? {};
    expect(plane.callsTo("commit-snapshot")).toHaveLength(1);
    expect(before).toMatch(/upload-snapshot$/);
    expect(plane.checkpoint).toMatchObject({ files: [] });
  });

  it("does not delay the run's end if it cannot be saved", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo kept > file") });
    plane.intercept = (call) => (call.path.endsWith("commit-snapshot") ? { status: 409 } : undefined);
    const { log } = await runHarness(plane);
    expect(plane.outcome).toMatchObject({ success: true });
    expect(log).toContain("no checkpoint was saved");
  });

  it("is created again if storage has lost it", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo kept > file") });
    await runHarness(plane);
    plane.outcome = undefined;
    plane.addFollowup(sh("ls file || echo none"));
    plane.intercept = (call) =>
      call.path.startsWith("/snapshot/") && call.raw.length === 0 ? { status: 404 } : undefined;
    await runHarness(plane);
    expect(plane.outputs.at(-1)).toContain("none");
    expect(plane.outcome).toMatchObject({ success: true });
  });

  it("is saved without files that cannot be read, which the timeline names once", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: sh(
        "echo precious > work.txt; echo x > locked; mkdir closed; echo y > closed/file; chmod 0 locked closed",
      ),
    });
    plane.addFollowup(sh("cat work.txt"));
    await runHarness(plane);
    const details = plane.events
      .filter(({ event_name }) => event_name === "checkpoint_saved")
      .map(({ payload }) => String(payload?.detail));
    expect(details).toEqual([expect.stringMatching(/^saved without what cannot be read: /)]);
    expect(details[0]).toContain("locked: Permission denied");
    expect(details[0]).toContain("closed: Permission denied");
    plane.outcome = undefined;
    plane.addFollowup(sh("cat work.txt; test -e locked || echo left out"));
    await runHarness(plane);
    expect([plane.outputs.at(-1), plane.outcome]).toMatchObject(["precious\nleft out\n", { success: true }]);
  });

  it("is restored without files whose paths are too long to be created, which the timeline names", async () => {
    const deepen = `python3 - <<'EOF'
import os
at = os.open(".", os.O_RDONLY)
for _ in range(25):
    os.mkdir("d" * 200, dir_fd=at)
    at = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
os.open("end", os.O_CREAT, dir_fd=at)
EOF`;
    await using plane = await FakeControlPlane.start({ prompt: sh(`echo precious > work.txt\n${deepen}`) });
    await runHarness(plane);
    plane.outcome = undefined;
    plane.addFollowup(sh("cat work.txt"));
    await runHarness(plane);
    const missing = plane.events.filter(({ payload }) => /^restored without/.test(String(payload?.detail)));
    expect(missing).toHaveLength(1);
    expect(String(missing[0]?.payload?.detail)).toMatch(
      /^restored without what cannot be created: d+.*File name too long/,
    );
    expect([plane.outputs.at(-1), plane.outcome]).toMatchObject(["precious\n", { success: true }]);
  });

  it("is not restored from an archive that is not complete", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("seq 100000 > work.txt") });
    await runHarness(plane);
    plane.attachSnapshot((plane.savedFile("workspace.tar.gz") ?? Buffer.alloc(0)).subarray(0, 5_000));
    plane.outcome = undefined;
    plane.addFollowup(sh("cat work.txt"));
    await runHarness(plane);
    expect(plane.outcome).toMatchObject({ success: false, summary: expect.stringContaining("could not be restored") });
  });

  it("is packed without following a link in place of the archive", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: sh('echo kept > file; ln -s /etc/passwd "$TMPDIR/workspace.tar.gz"'),
    });
    await runHarness(plane);
    const archive = plane.savedFile("workspace.tar.gz");
    expect(archive?.subarray(0, 2).toString("hex"), "gzip's own mark").toBe("1f8b");
    expect(plane.outcome).toMatchObject({ success: true });
  });
});

describe("a follow-up that interrupts", () => {
  it("ends the current command, is handled next, and the run continues", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: sh("echo begun; sleep 120; echo never", "echo unreached"),
    });
    const harness = startHarness(plane);
    await expect.poll(() => plane.messages.length).toBeGreaterThan(0);
    await sleep(500);
    plane.addFollowup(sh("echo instead"), "interrupt");
    const { code } = await harness.ended;
    expect(code).toBe(0);
    expect(plane.results[0]).toMatchObject({ interrupted: true });
    expect(plane.outputs.slice(1)).toEqual(["instead\n"]);
    expect(plane.texts[0]).toBe("Interrupted by follow-up 1.");
    expect(plane.outcome).toMatchObject({ success: true });
  });
});
