import { join, relative } from "node:path";
import * as v from "valibot";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { selectTestFiles, TIER_VARIABLE, Tier } from "./scripts/tiers.ts";

// Each file of tests has a process, and many start others. They load code that is compiled once, in half of the processor time.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

const tier = v.parse(v.optional(Tier), process.env[TIER_VARIABLE]);

const folders = ["domain", "api", "store", "server", "infra", "harness", "events", "reliability", "security", "checks"];
const services = ["clients", "cli", "contract", "local", "agents", "web", "docs", "e2e", "emulator"];
/** Projects that drive programs of others: Chromium, third-party agents, the AWS emulator. */
const DRIVERS: readonly string[] = ["agents", "web", "emulator"];
/** What a project needs that the repository's own packages do not bring. */
const setups: Readonly<Record<string, string>> = { agents: "scripts/install-agents.ts" };

/** Projects that call functions of the service in their own process. */
const CALLERS: readonly string[] = [...folders, "contract", "local", "agents", "web", "escape"];
/**
 * Projects whose tests share a process: they work on memory stores or templates, and each file cleans up. That saves half of their
 * time.
 */
const SHARED: readonly string[] = ["domain", "api", "infra"];

/** Files that take longest, much of it waiting. They start first, so that none of them is left over at the end. */
const SLOW = [
  "test/contract/schemathesis.test.ts",
  "test/e2e/llama/real-model.full.test.ts",
  "test/emulator/deployment.test.ts",
  "test/emulator/runtime-interface.test.ts",
  "test/e2e/schedules.full.test.ts",
  "test/e2e/processes.test.ts",
  "test/reliability/interleaving.full.test.ts",
  "test/server/serve/serve.test.ts",
  "test/agents/ends.test.ts",
  "test/agents/live.test.ts",
  "test/clients/python-package.full.test.ts",
  "test/harness/executions/execution.test.ts",
  "test/harness/workspace/checkpoints.test.ts",
  "test/harness/agent/agent-turns.test.ts",
  "test/infra/deployed-code.test.ts",
  "test/reliability/serial.full.test.ts",
  "test/reliability/crash.test.ts",
  "test/web/journey.full.test.ts",
  "test/web/webhooks.full.test.ts",
  "test/security/isolation-boundary.test.ts",
  "test/e2e/slices.full.test.ts",
  "test/checks/planted.test.ts",
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) => {
      const at = SLOW.indexOf(relative(this.ctx.config.root, moduleId));
      return project.config.sequence.groupOrder * 2 * SLOW.length + (at === -1 ? SLOW.length : at);
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    projects: [
      // Four workers for two cores, since many tests wait for processes: with three, a third of the processors was idle.
      ...[...folders, ...services].map((name) => project(name, { maxWorkers: 4, groupOrder: 0 })),
      // It uses up what a sandbox may have, and measures what that leaves of the machine.
      project("escape", { maxWorkers: 1, groupOrder: 1 }),
    ].filter(({ test }) => test.include.length > 0),
  },
});

function project(name: string, { maxWorkers, groupOrder }: { maxWorkers: number; groupOrder: number }) {
  const { include, exclude } = selectTestFiles(name, tier);
  return {
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      environment: "node",
      globalSetup: setups[name] ?? [],
      setupFiles: CALLERS.includes(name) ? ["test/support/mute-log.ts"] : [],
      pool: "forks" as const,
      isolate: !SHARED.includes(name),
      maxWorkers,
      // The report marks a second try as `(retry x1)`. A test of our own programs that passes when repeated has found a fault.
      retry: DRIVERS.includes(name) ? 1 : 0,
      testTimeout: 180_000,
      hookTimeout: 180_000,
      // Long, for a machine that is busy with other work.
      expect: { poll: { timeout: 120_000 } },
      sequence: { groupOrder },
    },
  };
}
