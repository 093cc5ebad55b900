/**
 * Stryker sees only what its own process runs. This switches a mutant on in the processes that tests start, too, and adds the mutants
 * that they run to those of the test. The processes load `hook.mjs`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, inject, vi } from "vitest";
import "./keep-alive.mjs";
import "./pass-on.mjs";

const Hits = v.record(v.string(), v.number());
const Coverage = v.object({ static: Hits, perTest: v.record(v.string(), Hits) });
type Coverage = v.InferOutput<typeof Coverage>;

declare global {
  /** Stryker's own, which its setup file fills before this one. */
  var __stryker__:
    | {
        activeMutant?: string;
        currentTestId?: string;
        hitLimit?: number;
        mutantCoverage?: Coverage;
        /** What a mutant tried to kill (`keep-alive.mjs`). */
        refusedKills?: string[];
      }
    | undefined;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Stryker's: whether it finds out which tests run which code, or tries a mutant. */
    readonly mode: "dry-run" | "mutant";
  }
}

const MUTANT_WAIT_MS = 5_000;
const MUTANT_TEST_MS = 60_000;
const HOOK = pathToFileURL(join(import.meta.dirname, "hook.mjs")).href;
globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
// In the copy of the repository, which is removed although its processes were killed.
const folder = mkdtempSync(join(process.cwd(), ".mutation-coverage-"));
process.env["RUNYARD_MUTATION_COVERAGE"] = folder;
process.env["NODE_OPTIONS"] = `${process.env["NODE_OPTIONS"] ?? ""} --import=${HOOK}`;
activate();

// What a mutant prevents is not waited for as long as on a busy machine without one.
if (inject("mode") === "mutant") vi.setConfig({ testTimeout: MUTANT_TEST_MS });
const { waitFor } = vi;
vi.waitFor = (check, options) => {
  const settings = typeof options === "number" ? { timeout: options } : options;
  return waitFor(check, stryker.activeMutant === undefined ? settings : { ...settings, timeout: MUTANT_WAIT_MS });
};

beforeAll(activate);
beforeEach(() => {
  if (stryker.currentTestId !== undefined) process.env["RUNYARD_MUTATION_TEST"] = stryker.currentTestId;
});
afterEach(() => {
  const refused = stryker.refusedKills?.splice(0) ?? [];
  if (refused.length > 0) throw new Error(refused.join("; "));
});
afterAll(() => {
  for (const file of readdirSync(folder)) add(v.parse(Coverage, JSON.parse(readFileSync(join(folder, file), "utf8"))));
  rmSync(folder, { recursive: true });
});

function activate(): void {
  const { activeMutant, hitLimit } = stryker;
  if (activeMutant !== undefined) process.env["__STRYKER_ACTIVE_MUTANT__"] = activeMutant;
  if (hitLimit !== undefined) process.env["RUNYARD_MUTATION_HIT_LIMIT"] = String(hitLimit);
}

function add(found: Coverage): void {
  stryker.mutantCoverage ??= { static: {}, perTest: {} };
  const { mutantCoverage } = stryker;
  mutantCoverage.static = addHits(mutantCoverage.static, found.static);
  for (const [test, hits] of Object.entries(found.perTest)) {
    mutantCoverage.perTest[test] = addHits(mutantCoverage.perTest[test] ?? {}, hits);
  }
}

function addHits(hits: Record<string, number>, others: Readonly<Record<string, number>>): Record<string, number> {
  for (const [mutant, count] of Object.entries(others)) hits[mutant] = (hits[mutant] ?? 0) + count;
  return hits;
}
