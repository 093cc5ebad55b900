import type { Check } from "../doctor/check.ts";
import {
  checkDataDirectory,
  checkFreeSpace,
  checkImages,
  checkMirrors,
  checkScratch,
  checkSnapshots,
} from "../doctor/check-data.ts";
import { checkIsolation, checkNode, checkPort, checkPrograms, checkVariables } from "../doctor/check-host.ts";
import { checkProviders } from "../doctor/check-providers.ts";
import { toDisplayPath } from "../host/paths.ts";
import { say } from "../host/terminal.ts";
import { scratchPath } from "../sandbox/scratch-path.ts";
import { DEFAULT_PORT, findLastPort, readLocalState, servePaths } from "./local-state.ts";
import { printCheck } from "./print-check.ts";
import type { Program } from "./program.ts";
import { findProcess } from "./service-process.ts";
import { parseFlags, parseInteger } from "./usage.ts";

const help = ({ usage, homeText }: Program): string => `Usage: ${usage} doctor [options]

Checks whether this machine can run the service: Node, programs, isolation, data directory, disk, leftover files, port,
and each configured model provider with one call, which costs a few tokens. Says what to do about each problem.

  --data DIR     data directory of the service (default: data in ${homeText})
  --port N       port to check (default: that of the last start, at first ${DEFAULT_PORT})
  --no-sandbox   do not demand isolation
  --json         print one JSON document
  --help         show this text

Exit code: 1 if a problem prevents the service from executing runs, else 0.`;

/** Checks this machine, and prints each problem with its remedy. */
export async function doctorCommand(args: readonly string[], program: Program): Promise<number> {
  const flag = { type: "boolean", default: false } as const;
  const text = { type: "string" } as const;
  const { values } = parseFlags(args, { data: text, port: text, "no-sandbox": flag, json: flag });
  if (values["help"]) {
    say(help(program));
    return 0;
  }
  const port = parseInteger("--port", values.port, 65_535);
  const checks = await runChecks(program, { data: values.data, port, sandbox: !values["no-sandbox"] });
  const isBlocked = checks.some(({ status }) => status === "failed");
  if (values.json) say(JSON.stringify({ ok: !isBlocked, checks }, null, 2));
  else for (const check of checks) printCheck(check);
  return isBlocked ? 1 : 0;
}

async function runChecks(
  program: Program,
  { data, port, sandbox }: { data: string | undefined; port: number | undefined; sandbox: boolean },
): Promise<Check[]> {
  const paths = servePaths(program.home, data);
  const found = await findProcess(paths.data);
  const last = await readLocalState(paths.localFile);
  const preferredPort = port ?? findLastPort(last);
  const host = { platform: process.platform, searchPath: process.env["PATH"] ?? "" };
  const groups = await Promise.all([
    checkNode(),
    checkVariables(process.env),
    checkPrograms(host),
    checkIsolation(sandbox && program.isService, scratchPath(paths.data)),
    checkDataDirectory(paths.data),
    checkFreeSpace(paths.data),
    checkScratch(paths.data),
    checkSnapshots(paths.data),
    checkMirrors(paths.data),
    checkImages(paths.data),
    checkPort(preferredPort, found?.isRunning ? found.service.local_url : undefined, port !== undefined),
    checkProviders(process.env, {
      directory: paths.data,
      service:
        found?.isRunning && last !== undefined
          ? { baseUrl: `${found.service.local_url}/api/v1`, key: last.api_key }
          : undefined,
    }),
  ]);
  return groups
    .flat()
    .map((check) => ({ ...check, detail: check.detail.replace(paths.data, toDisplayPath(paths.data)) }));
}
