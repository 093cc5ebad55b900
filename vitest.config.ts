import { defineConfig } from "vitest/config";

/** Plain projects share two workers; what starts processes and servers comes after them, one file at a time. */
const together = ["domain", "api", "store", "server", "infra", "harness", "events", "reliability"];
const alone = [
  "escape",
  "security",
  "checks",
  "clients",
  "cli",
  "contract",
  "local",
  "agents",
  "web",
  "e2e",
  "emulator",
];
/** What a project needs that the repository's own packages do not bring. */
const setups: Readonly<Record<string, string>> = { agents: "test/agents/support/install.ts" };

export default defineConfig({
  test: {
    projects: [
      ...together.map((name) => project(name, { maxWorkers: 2, seconds: 90, groupOrder: 0 })),
      ...alone.map((name, index) => project(name, { maxWorkers: 1, seconds: 180, groupOrder: index + 1 })),
    ],
  },
});

function project(name: string, options: { maxWorkers: number; seconds: number; groupOrder: number }) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      environment: "node",
      globalSetup: setups[name] ?? [],
      pool: "forks" as const,
      maxWorkers: options.maxWorkers,
      testTimeout: options.seconds * 1000,
      hookTimeout: options.seconds * 1000,
      sequence: { groupOrder: options.groupOrder },
    },
  };
}
