import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../scripts/run-command.ts";
import { countPython } from "../../scripts/tally.ts";
import { startService } from "../support/service.ts";

// Long, since `npm run test:full` checks the Python client at the same time: the script waits for the end of that, up to 600 s.
test("the Python client executes the snippets of its README, and its models fit what the service responds", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runyard-python-"));
  const server = await startService();
  try {
    const report = join(folder, "report.json");
    const service = [`RUNYARD_BASE_URL=${server.baseUrl}`, `RUNYARD_API_KEY=${server.apiKey}`];
    const python = process.env["RUNYARD_PYTHON"] ?? "python3";
    const command = [...service, python, "clients/python/scripts/check.py", "--live", "--report", report];
    const { exitCode, output } = await runCommand("env", command, { timeoutSeconds: 900 });
    const { passed, failures } = countPython(readFileSync(report, "utf8"), exitCode);
    expect(failures, output).toEqual([]);
    expect(passed, output).toBeGreaterThan(15);
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}, 1_000_000);
