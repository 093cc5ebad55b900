import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import { createReaperPorts } from "#shared/wiring/executions.ts";

vi.mock("node:timers/promises", () => ({ setTimeout: vi.fn(async () => {}) }));
vi.mock("#shared/executions/reaper-passes.ts", () => ({ reapUntilQuiet: vi.fn(async () => {}) }));
afterEach(() => vi.unstubAllEnvs());

it("the reaper on AWS waits the given number of seconds before its next pass", async () => {
  vi.stubEnv("TABLE_NAME", "table");
  vi.stubEnv("BUCKET_NAME", "bucket");
  const ports = createReaperPorts();
  await ports.passes.sendPass(1, 30);
  expect(vi.mocked(sleep).mock.calls).toEqual([[30_000]]);
  expect(vi.mocked(reapUntilQuiet).mock.calls).toEqual([[1, ports]]);
});
