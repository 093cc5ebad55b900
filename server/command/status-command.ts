import { stat } from "node:fs/promises";
import { type DiskUse, measureDisk } from "../disk/disk-budget.ts";
import { formatBytes } from "../disk/format-bytes.ts";
import { toDisplayPath } from "../host/paths.ts";
import { bold, green, red, say } from "../host/terminal.ts";
import { readLocalState, servePaths } from "./local-state.ts";
import type { Program } from "./program.ts";
import { findProcess } from "./service-process.ts";
import { parseFlags } from "./usage.ts";

const TIMEOUT_MS = 10_000;
/** Exit codes, as the Linux Standard Base defines them for the status of a service. */
const EXIT = { running: 0, notResponding: 1, notRunning: 3 } as const;

const help = ({ usage, homeText }: Program): string => `Usage: ${usage} status [options]

Shows whether the service runs, and where.

  --data DIR   data directory of the service (default: data in ${homeText})
  --json       print one JSON document
  --help       show this text

Exit code: 0 if the service responds, 1 if it runs but does not respond, 3 if it does not run.`;

/** Shows the state of the service of a data directory. */
export async function statusCommand(args: readonly string[], program: Program): Promise<number> {
  const { values } = parseFlags(args, { data: { type: "string" }, json: { type: "boolean", default: false } });
  if (values["help"]) {
    say(help(program));
    return 0;
  }
  const status = await readStatus(program, values.data);
  if (values.json) say(JSON.stringify(status, null, 2));
  else print(status, program);
  return status.state === "running"
    ? EXIT.running
    : status.state === "not running"
      ? EXIT.notRunning
      : EXIT.notResponding;
}

async function readStatus({ home }: Program, directory: string | undefined) {
  const { data, localFile, log } = servePaths(home, directory);
  const found = await findProcess(data);
  const local = await readLocalState(localFile);
  const isThere = await stat(data).catch(() => undefined);
  const disk = isThere && (await measureDisk(data, found?.service.max_disk_bytes));
  const files = { data, log, ...(disk === undefined ? {} : { disk }) };
  if (found === undefined || !found.isRunning) {
    const last = found === undefined ? {} : { last_pid: found.service.process.pid };
    return { state: "not running", ...files, ...last } as const;
  }
  const { process, ...service } = found.service;
  const state = (await responds(service.local_url)) ? "running" : "not responding";
  const address = local === undefined ? {} : { base_url: local.base_url, web_url: local.web_url };
  return { state, pid: process.pid, ...address, ...service, ...files } as const;
}

const responds = (url: string): Promise<boolean> =>
  fetch(`${url}/api/v1/openapi.json`, { method: "GET", signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    async (response) => {
      await response.body?.cancel();
      return response.ok;
    },
    () => false,
  );

type Status = Awaited<ReturnType<typeof readStatus>>;

function print(status: Status, { usage }: Program): void {
  const rows: [string, string][] = [];
  if (status.state === "not running") {
    const ended = status.last_pid === undefined ? "" : `; process ${status.last_pid} ended without being stopped`;
    say(`Runyard is ${red("not running")}${ended}.`);
  } else {
    const text = status.state === "running" ? green("running") : red("not responding");
    say(`Runyard is ${text}: process ${status.pid}, since ${status.started_at}.`);
    rows.push(["API", status.base_url ?? `${status.local_url}/api/v1`]);
    rows.push(["Isolation", status.isolation]);
    rows.push(["Executions", `up to ${status.concurrency} at the same time`]);
  }
  rows.push(["Data", toDisplayPath(status.data)]);
  if (status.disk !== undefined) rows.push(["Disk", describe(status.disk)]);
  rows.push(["Log", toDisplayPath(status.log)]);
  for (const [name, value] of rows) say(`${bold(name.padEnd(11))} ${value}`);
  if (status.state === "not running") say(`Start it with: ${usage} ${usage.startsWith("npm") ? "" : "serve "}--detach`);
}

const describe = ({ database, files, limit, free }: DiskUse): string =>
  `database ${formatBytes(database)}, files ${formatBytes(files)}, limit ${formatBytes(limit)}; ${formatBytes(free)} free`;
