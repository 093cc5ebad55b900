import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { HarnessPrograms } from "#server/sandbox/harness-programs.ts";
import { runExecution } from "#shared/sandbox/harness-process.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";

const environment = { RUNYARD_SANDBOX: "none" };

describe("HarnessPrograms", () => {
  it("uses the sources until the bundle exists", async () => {
    const programs = new HarnessPrograms(environment);
    expect(programs.main()).toMatchObject({ file: expect.stringMatching(/harness\/main\.ts$/), environment });
    expect(programs.scan().file).toMatch(/harness\/scan-main\.ts$/);
    await programs.bundle();
    expect([programs.main().file, programs.scan().file].map((file) => path.basename(file))).toEqual([
      "main.mjs",
      "scan.mjs",
    ]);
    expect(existsSync(programs.scan().file)).toBe(true);
  });

  it("executes a run with the bundle", async () => {
    const programs = new HarnessPrograms(environment);
    await programs.bundle();
    await using plane = await FakeControlPlane.start({ prompt: "```sh\necho bundled\n```" });
    await runExecution(plane.envelope, { program: programs.main(), graceMs: 5_000, print: () => undefined });
    expect(plane.outputs).toEqual(["bundled\n"]);
  });

  it("builds the bundle once for servers that start at the same time, and keeps rarely used parts out of its first file", async () => {
    const several = [1, 2, 3].map(() => new HarnessPrograms(environment));
    await Promise.all(several.map((programs) => programs.bundle()));
    const [file = "", ...others] = several.map((programs) => programs.main().file);
    expect(others).toEqual([file, file]);
    expect(readFileSync(file, "utf8").length).toBeLessThan(150_000);
  });
});
