import { parseArgs } from "node:util";
import * as v from "valibot";
import { dispatchRun } from "../../functions/executions/dispatch-run.ts";
import { endRun } from "../../functions/executions/end-run.ts";
import { reapRuns } from "../../functions/executions/reap-runs.ts";
import { reconcileSchedules } from "../../functions/executions/reconcile-schedules.ts";
import { callApi } from "../../server/host/api.ts";
import { firstFreePort } from "../../server/host/ports.ts";
import { dim } from "../../server/host/terminal.ts";
import { startHttpServer } from "../../server/http/http-server.ts";
import { createPorts, openAdapters } from "../../server/ports.ts";
import { QUEUES } from "../../server/queue/queue-names.ts";
import { localUrl } from "../../server/server.ts";
import { LocalWorkerSockets } from "../../server/sockets/worker-sockets.ts";
import { setLogOutput } from "../../shared/log/log.ts";
import { bootstrap } from "../../shared/teams/bootstrap.ts";
import type { Envelope } from "../../shared/wire/harness.ts";
import { withDirectory } from "./temporary-directory.ts";

const HELP = `Usage: npm run lab -- bench-day [options]

Lets a service on one machine live through a day of schedules in minutes, and prints the memory of its process at each hour. The
clock advances by a minute whenever all runs of the last one have ended. Harnesses are played by this process, which calls the same
endpoints as they do.

  --hours N      hours to simulate (default 24)
  --schedules N  schedules that fire each minute (default 7, which are 10,080 runs a day)
  --help         show this text`;

const MINUTE_MS = 60_000;
const MINUTES = 60;
const MEGABYTE = 1024 * 1024;
/** The event that EventBridge sends each minute. */
const MINUTE = { source: "aws.events", "detail-type": "Scheduled Event" } as const;
const CONCURRENCY = 8;

async function main(args: string[]): Promise<number> {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args,
    options: { hours: { type: "string", default: "24" }, schedules: { type: "string", default: "7" }, help: flag },
  });
  const [hours, schedules] = [Number(values.hours), Number(values.schedules)];
  if (values.help || !Number.isInteger(hours) || !Number.isInteger(schedules)) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  setLogOutput(() => undefined);
  await withDirectory("runyard-day-", (directory) => simulate(directory, hours, schedules));
  return 0;
}

async function simulate(directory: string, hours: number, schedules: number): Promise<void> {
  const clock = installClock();
  const port = await firstFreePort(4_900);
  const webUrl = localUrl("127.0.0.1", port);
  const adapters = await openAdapters(directory);
  const { table, queues, database } = adapters;
  const executions = new Set<Promise<void>>();
  const sandbox = {
    async start(envelope: Envelope): Promise<undefined> {
      const execution = executeRun(envelope).finally(() => executions.delete(execution));
      executions.add(execution);
    },
    stop: async () => true,
  };
  const scanner = {
    scan: async () => ({ outcome: "failed" as const, reason: "unreadable" as const, message: "none" }),
  };
  const sockets = new LocalWorkerSockets();
  const ports = createPorts(adapters, { webUrl, sandbox, sockets, scanner, environment: {} });
  const http = await startHttpServer({ host: "127.0.0.1", port, ports, adapters, sockets });
  const room = { concurrency: CONCURRENCY, hasRoom: () => executions.size < CONCURRENCY };
  queues.consume({ ...room, queue: QUEUES.runs, handle: (event) => dispatchRun.handle(event, ports) });
  queues.consume({ concurrency: CONCURRENCY, queue: QUEUES.ends, handle: (event) => endRun.handle(event, ports) });
  queues.start();
  const names = { teamName: "Day", displayName: "Caller", email: "caller@example.com" };
  const { api_key: key } = await bootstrap(table, Date.now(), names);
  const api = { baseUrl: `${webUrl}/api/v1`, key };
  for (let number = 0; number < schedules; number++) await createSchedule(api, number);

  const depths = () => Promise.all([queues.depth(QUEUES.runs), queues.depth(QUEUES.ends)]);
  const isIdle = async () =>
    executions.size === 0 && (await depths()).every((depth) => depth.waiting + depth.inFlight === 0);
  const rows: Sample[] = [];
  for (let minute = 1; minute <= hours * MINUTES; minute++) {
    clock.advance(MINUTE_MS);
    await reconcileSchedules.handle(MINUTE, ports);
    await reapRuns.handle(MINUTE, ports);
    await table.purgeExpired(Date.now());
    queues.wake();
    while (!(await isIdle())) await new Promise((resolve) => setTimeout(resolve, 5));
    if (minute % MINUTES === 0) {
      rows.push(sample(minute / MINUTES));
      console.error(dim(JSON.stringify(rows.at(-1))));
    }
  }
  const succeeded = database.statement(COUNT).get('%"state":"SUCCEEDED"%');
  await queues.stop();
  await http.close();
  await database.close();
  print(rows, v.parse(Count, succeeded).count);
}

const COUNT = "SELECT count(*) AS count FROM items WHERE sk = 'HEAD' AND pk LIKE 'RUN#%' AND item LIKE ?";
const Count = v.object({ count: v.number() });

/** Replaces the clock of this process by one that stands still between minutes, at the beginning of one. */
function installClock() {
  let now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  Date.now = () => now;
  return {
    advance(milliseconds: number): void {
      now += milliseconds;
    },
  };
}

async function createSchedule(api: { baseUrl: string; key: string }, number: number): Promise<void> {
  await callApi(api, "POST", "/agent/schedules", v.looseObject({}), {
    name: `Schedule ${number}`,
    cron_schedule: "* * * * *",
    prompt: "```sh\necho tick\n```",
  });
}

/** Makes the calls of a harness that executes one command. */
async function executeRun({ base_url, key, execution_id }: Envelope): Promise<void> {
  const api = { baseUrl: base_url, key };
  const call = (route: string, body: unknown) => callApi(api, "POST", `/harness-support/${route}`, v.unknown(), body);
  await call("resolve-prompt", {});
  const messages = [{ role: "assistant", content: [{ type: "text", text: "tick ".repeat(200) }] }];
  await call("messages", { execution_id, first_sequence: 1, messages });
  await call("heartbeat", { execution_id, followups_stored: 0 });
  await call("finish-task", { success: true, summary: "tick" });
}

interface Sample {
  readonly hour: number;
  readonly heapMb: number;
  readonly rssMb: number;
}

function sample(hour: number): Sample {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const round = (bytes: number) => Math.round((bytes / MEGABYTE) * 10) / 10;
  return { hour, heapMb: round(heapUsed + external), rssMb: round(rss) };
}

function print(rows: readonly Sample[], succeeded: number): void {
  console.log(`${succeeded} runs succeeded.\n`);
  console.log("| hour | heap after collection, MB | resident, MB |\n|---:|---:|---:|");
  for (const { hour, heapMb, rssMb } of rows) console.log(`| ${hour} | ${heapMb} | ${rssMb} |`);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
