import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { runInProcess } from "../support/run-in-process.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 20_000 });

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");
const INTERRUPT = { number: 7, by: "Ada" };
const INTERRUPTED = "Interrupted by Ada. Send a follow-up to continue.";

beforeEach(() => void vi.spyOn(process.stdout, "write").mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

describe("an interrupt", () => {
  // @contract interrupt.message: The run says: Interrupted by NAME. Send a follow-up to continue..
  // @contract interrupt.turn: An interrupt stops the turn's command.
  it("stops the command of the turn, and the run waits for a follow-up", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo begun; sleep 600", "echo never") });
    const ended = runInProcess(plane);
    await expect.poll(() => plane.messages.length).toBeGreaterThan(0);
    plane.interrupt = INTERRUPT;
    await expect.poll(() => plane.waits, { message: "long before the command ends by itself" }).toBe(1);
    expect(plane.results).toMatchObject([{ interrupted: true }]);
    expect(plane.texts).toEqual([INTERRUPTED]);
    expect(plane.messages.at(-1)?.content.at(-1)).toEqual({
      type: "event",
      name: "turn_ended",
      data: { success: false, blocked: true, interrupt: 7 },
    });
    plane.addFollowup(sh("echo instead"));
    expect(await ended).toBe(0);
    expect(plane.outputs.at(-1)).toBe("instead\n");
    expect(plane.outcome).toMatchObject({ success: true });
  });

  it("ends the run as blocked in a sandbox that does not wait", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("sleep 60") });
    plane.canWait = false;
    const ended = runInProcess(plane);
    await expect.poll(() => plane.messages.length).toBeGreaterThan(0);
    plane.interrupt = INTERRUPT;
    expect(await ended).toBe(0);
    expect(plane.outcome).toEqual({ success: false, blocked: true, summary: INTERRUPTED, interrupt: 7 });
  });

  it("of a turn that has ended by itself is answered before the run ends", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo done") });
    plane.canWait = false;
    plane.intercept = ({ path }) => {
      if (path.endsWith("/finish-task")) plane.interrupt = INTERRUPT;
      return undefined;
    };
    expect(await runInProcess(plane)).toBe(0);
    expect(plane.outputs).toEqual(["done\n"]);
    expect(plane.texts.at(-1)).toBe(INTERRUPTED);
    expect(plane.outcome).toMatchObject({ blocked: true, interrupt: 7 });
  });

  it("of a lost execution keeps the next one from continuing the turn", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo again"), context: { interrupt: INTERRUPT } });
    plane.interrupt = INTERRUPT;
    const ended = runInProcess(plane);
    await expect.poll(() => plane.waits).toBe(1);
    plane.addFollowup(sh("echo instead"));
    expect(await ended).toBe(0);
    expect(plane.outputs).toEqual(["instead\n"]);
    expect(plane.texts[0]).toBe(INTERRUPTED);
  });
});

describe("an interactive run", () => {
  // @contract idle.background: Background processes live on while an interactive run waits.
  it("keeps its background commands and its workspace while it waits, until the control plane ends it", async () => {
    const program =
      'const fs = require("fs"); require("http").createServer().listen(0); ' +
      'setInterval(() => fs.existsSync("go.txt") && fs.writeFileSync("late.txt", "late\\n"), 100)';
    const background = `exec node -e '${program}'`;
    await using plane = await FakeControlPlane.start({
      prompt: `\`\`\`sh background\n${background}\n\`\`\`\n${sh("echo one")}`,
    });
    plane.interactive = true;
    const ended = runInProcess(plane);
    await expect.poll(() => plane.waits).toBe(1);
    await expect.poll(() => plane.checkpoint?.messages).toBe(plane.messages.length);
    plane.addFollowup(sh("touch go.txt; until [ -e late.txt ]; do sleep 0.1; done; cat late.txt"));
    await expect.poll(() => plane.waits).toBe(2);
    expect(plane.outputs).toContain("late\n");
    plane.cancelled = true;
    expect(await ended).toBe(0);
    expect(plane.outcome).toBeUndefined();
  });

  it("ends when the time of its sandbox is over", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo one") });
    plane.interactive = true;
    plane.lifetimeMs = 8_000;
    expect(await runInProcess(plane)).toBe(0);
    expect([plane.waits, plane.outcome?.success]).toEqual([1, true]);
  });
});
