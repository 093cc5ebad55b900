import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildSync } from "esbuild";
import * as v from "valibot";
import { type BundleSize, bundle, bundleSizes, bundling } from "../../infra/bundle.ts";
import { routes } from "../../infra/routes.ts";
import { runCommand } from "../../server/host/commands.ts";
import { projectRoot } from "../../server/host/paths.ts";
import { onInterrupt } from "./interruption.ts";
import { quantile } from "./statistics.ts";

export interface Import {
  readonly output: string;
  /** Median milliseconds of processor time that importing takes in a process of its own. */
  readonly cpuMs: number;
  /** Against an empty handler with the same SDK clients. */
  readonly ratio: number;
}

export interface Bundles {
  readonly sizes: readonly BundleSize[];
  /**
   * The sizes of routes: other functions may be larger. Code that only the routes of schedules contain is counted
   * separately.
   */
  readonly routes: readonly BundleSize[];
  readonly imports: readonly Import[];
  /** Median milliseconds of processor time that the empty handler takes. */
  readonly emptyCpuMs: number;
}

/** The size of the functions and the cost of loading them, of the largest route and of the one that callers use first. */
export async function measureBundles(processes: number): Promise<Bundles> {
  // Below the checkout, where the bundler finds the packages; git ignores it.
  const folder = path.join(projectRoot, "dist", `bench-${process.pid}`);
  await mkdir(folder, { recursive: true });
  const remove = () => rm(folder, { recursive: true, force: true });
  const cancel = onInterrupt(remove);
  try {
    const bundled = bundle({ outdir: path.join(folder, "functions") });
    const sizes = bundleSizes(bundled);
    const files = new Set(routes.map(({ file }) => `${file}/index.mjs`));
    const ofRoutes = sizes.filter(({ output }) => files.has(output));
    const heaviest = ofRoutes.toSorted((a, b) => b.ownBytes - a.ownBytes)[0]?.output;
    const candidates = [...new Set([CREATE, heaviest ?? CREATE])];
    const empty = await emptyHandler(folder);
    const contenders = [empty, ...candidates.map((output) => path.join(folder, "functions", output))];
    const times = await importTimes(contenders, path.join(folder, "probe.mjs"), processes);
    const emptyCpuMs = times[0] ?? Number.NaN;
    const imports = candidates.map((output, index) => {
      const cpuMs = times[index + 1] ?? Number.NaN;
      return { output, cpuMs, ratio: cpuMs / emptyCpuMs };
    });
    return { sizes, routes: ofRoutes, imports, emptyCpuMs };
  } finally {
    await remove().finally(cancel);
  }
}

const CREATE = "runs/create-run/index.mjs";

/** A handler that does nothing, with the SDK's client of DynamoDB and the commands that the table needs. */
const EMPTY = `
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchGetCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
export const handler = async () => [
  BatchGetCommand, DeleteCommand, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand,
  DynamoDBDocumentClient.from(new DynamoDBClient()),
].length;
`;

async function emptyHandler(folder: string): Promise<string> {
  const entry = path.join(folder, "empty.ts");
  await writeFile(entry, EMPTY);
  const outdir = path.join(folder, "empty");
  buildSync({ ...bundling(), absWorkingDir: projectRoot, entryPoints: [{ in: entry, out: "index" }], outdir });
  return path.join(outdir, "index.mjs");
}

/** Processor time instead of elapsed time, since other programs are running too. */
const PROBE = `
const before = process.cpuUsage();
await import(process.argv[2]);
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify((user + system) / 1000));
`;

/** Median import time of each file; they take turns, so that a disturbance affects all of them. */
async function importTimes(files: readonly string[], probe: string, processes: number): Promise<number[]> {
  await writeFile(probe, PROBE);
  const times = files.map((): number[] => []);
  for (let round = 0; round < processes; round++) {
    for (const [index, file] of files.entries()) {
      const { code, output } = await runCommand(process.execPath, [probe, file], { timeoutSeconds: 60 });
      if (code !== 0) throw new Error(`${file} cannot be imported: ${output}`);
      times[index]?.push(v.parse(v.number(), JSON.parse(output)));
    }
  }
  return times.map((list) => quantile(list, 0.5));
}
