import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { HarnessPrograms } from "#server/sandbox/harness-programs.ts";
import type { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { compileCache } from "../../support/compile-cache.ts";

const programs = new HarnessPrograms({});
// One file loads in half the processor time of the sources, of which mutation testing changes some.
if (Object.keys(mutationVariables()).length === 0) await programs.bundle();
const MAIN = programs.main().file;

export interface Harness {
  readonly process: ChildProcess;
  /** Resolves with the exit code and the log of the harness. */
  readonly ended: Promise<{ code: number | null; log: string }>;
}

/** Starts the harness as a process of its own, as a sandbox does. */
export function startHarness(
  plane: FakeControlPlane,
  environment: Record<string, string> = {},
  input = JSON.stringify(plane.envelope),
  opened?: string,
): Harness {
  const env = { PATH: process.env["PATH"] ?? "", ...compileCache(), ...mutationVariables(), ...environment };
  // Node closes low descriptors by itself; a shell can leave a high one open.
  const [file, ...args] =
    opened === undefined
      ? [process.execPath, MAIN]
      : ["bash", "-c", 'exec 200<"$0"; exec "$1" "$2"', opened, process.execPath, MAIN];
  const child = spawn(file ?? "", args, { env, stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
  }
  child.stdin.end(input);
  return { process: child, ended: once(child, "close").then(([code]) => ({ code, log })) };
}

export const runHarness = (plane: FakeControlPlane, environment?: Record<string, string>) =>
  startHarness(plane, environment).ended;

/** The variables that mutation testing passes to every process of the tests; none otherwise. */
export function mutationVariables(): Record<string, string> {
  const ours = /^(RUNYARD_(PLANTED|MUTATION|TEST_FILE)|__STRYKER_)/;
  const given = Object.entries(process.env).filter(([name]) => ours.test(name));
  if (given.length === 0) return {};
  return Object.fromEntries(
    [...given, ["NODE_OPTIONS", process.env["NODE_OPTIONS"]]].map(([name, value]) => [name, value ?? ""]),
  );
}
