import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../scripts/run-command.ts";
import { countPython } from "../../scripts/tally.ts";
import { dropState, makeState, startCloud } from "../e2e/cloud.ts";

test("the Python client's README does what it says, and its models fit what the local cloud answers", async () => {
  const state = await makeState();
  const folder = mkdtempSync(join(tmpdir(), "runyard-python-"));
  const cloud = await startCloud(state);
  try {
    const report = join(folder, "report.json");
    const service = [`RUNYARD_BASE_URL=${cloud.baseUrl}`, `RUNYARD_API_KEY=${cloud.apiKey}`];
    const python = process.env["RUNYARD_PYTHON"] ?? "python3";
    const command = [...service, python, "clients/python/scripts/check.py", "--live", "--report", report];
    const { exitCode, output } = await runCommand("env", command);
    const { passed, failed } = countPython(readFileSync(report, "utf8"), exitCode);
    expect(failed, output).toBe(0);
    expect(passed, output).toBeGreaterThan(15);
  } finally {
    await cloud.stop();
    await dropState(state);
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
