import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { eventSources } from "#infra/event-sources.ts";
import { routes } from "#infra/routes.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "events");

/** A function of the deployment and the kinds of events that invoke it. */
export interface Target {
  /** Name after `runyard-`. */
  readonly name: string;
  /** File in functions/ without its extension. */
  readonly file: string;
  /** Kinds of principals that its routes are for. */
  readonly who: readonly string[];
  readonly scope: string;
  /** Folders of events/ that it has fixtures in. */
  readonly kinds: readonly string[];
}

const toFunctionName = (file: string): string => basename(file);

/** The kinds of events that invoke functions without a route, as in infra/stacks/execution-stack.ts. */
const invokedBy: Readonly<Record<keyof typeof eventSources, readonly string[]>> = {
  dispatchRun: ["sqs"],
  runSandbox: ["invocation"],
  discoverSkills: ["invocation"],
  callModel: ["url"],
  streamEvents: ["url"],
  endRun: ["sqs"],
  reapRuns: ["scheduler", "sqs"],
  fireSchedule: ["invocation"],
  reconcileSchedules: ["scheduler"],
  deleteOldRuns: ["scheduler"],
  decideEvents: ["sqs", "scheduler"],
  planDeliveries: ["stream", "scheduler", "sqs"],
  attemptDeliveries: ["invocation", "sqs"],
  sendWebhooks: ["invocation"],
  callSystems: ["invocation"],
  connectWorker: ["socket"],
  disconnectWorker: ["socket"],
  receiveFrame: ["socket"],
};

/** Every function that is deployed, by its name. */
export const targets: ReadonlyMap<string, Target> = new Map(
  [
    ...routes.map(({ name, file, who, scope }) => ({
      name: name ?? toFunctionName(file),
      file,
      who: who === "public" ? [] : who,
      scope,
      kinds: ["http"],
    })),
    ...Object.entries(invokedBy).map(([id, kinds]) => {
      const source = Object.entries(eventSources).find(([name]) => name === id)?.[1];
      if (source === undefined) throw new Error(`there is no event source ${id}`);
      const who = "who" in source ? source.who : [];
      const scope = "scope" in source ? source.scope : "";
      return { name: toFunctionName(source.file), file: source.file, who, scope, kinds };
    }),
  ].map((target) => [target.name, target]),
);

/** Every fixture, as its path below events/. */
export const fixtures: readonly string[] = globSync("**/*", { cwd: folder, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  .sort();

export const readText = (fixture: string): string => readFileSync(join(folder, fixture), "utf8");
export const isBad = (fixture: string): boolean => fixture.endsWith(".bad.json");

/** The folder of a fixture, which is the kind of its event: http, url, socket, sqs, scheduler or invocation. */
export const toKind = (fixture: string): string => fixture.slice(0, fixture.indexOf("/"));

/** Finds the function of a fixture by its file name up to the first dot. */
export function findTarget(fixture: string): Target {
  const [name = ""] = basename(fixture).split(".");
  const target = targets.get(name);
  if (target === undefined) throw new Error(`${fixture} is for no function`);
  return target;
}
