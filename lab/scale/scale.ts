import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { dispatchRun } from "../../functions/executions/dispatch-run.ts";
import { endRun } from "../../functions/executions/end-run.ts";
import { reapRuns } from "../../functions/executions/reap-runs.ts";
import { callApi } from "../../server/host/api.ts";
import { firstFreePort } from "../../server/host/ports.ts";
import { dim } from "../../server/host/terminal.ts";
import { startHttpServer } from "../../server/http/http-server.ts";
import { createPorts, openAdapters } from "../../server/ports.ts";
import { toSqsEvent } from "../../server/queue/sqs-event.ts";
import { localUrl } from "../../server/server.ts";
import { LocalWorkerSockets } from "../../server/sockets/worker-sockets.ts";
import { setLogOutput } from "../../shared/log/log.ts";
import type { Table } from "../../shared/table/table.ts";
import { bootstrap } from "../../shared/teams/bootstrap.ts";
import { teamStore } from "../../shared/teams/team-store.ts";
import type { Envelope } from "../../shared/wire/harness.ts";
import { withDirectory } from "../bench/temporary-directory.ts";
import { type KeyUse, limitedTable } from "./limited-table.ts";
import { VirtualTime } from "./virtual-time.ts";

const HELP = `Usage: npm run lab -- scale [options]

Creates, dispatches, executes and ends runs at several rates in virtual time, with the endpoints, rules and stores of the service, and
prints how much of a DynamoDB partition's limits (1,000 write units and 3,000 read units a second) the fullest partition of each kind
of key uses, and how many first attempts of writes find their item locked by another transaction.

  --rates LIST   runs that are created in a second (default 10,100,1000)
  --seconds N    seconds of virtual time in which runs are created (default 4)
  --teams N      teams that create them in turn (default 20)
  --limit N      executions of the deployment (default: 600 for each run a second, as if runs took ten minutes)
  --help         show this text`;

/** Milliseconds from the creation of a run until it is dispatched, calls for the first time, sends messages, and ends. */
const DISPATCH_MS = 200;
const BEGIN_MS = 700;
const MESSAGES_MS = 1_200;
const FINISH_MS = 1_700;
const END_MS = 1_800;
/** Seconds that runs of a deployment of this size usually take. Here they take less, so that runs end at the rate at which they start. */
const RUN_SECONDS = 600;
/** The most runs that a team may execute at once. */
const MAX_TEAM_RUNS = 10_000;
/** In memory where there is such a folder: a disk would spend most of the time on making each write last. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
/** Milliseconds from one pass of the reaper to the next. */
const PASS_MS = 5_000;

interface Options {
  readonly seconds: number;
  readonly teams: number;
  readonly limit: number | undefined;
}

async function main(args: string[]): Promise<number> {
  const text = (value: string) => ({ type: "string", default: value }) as const;
  const { values } = parseArgs({
    args,
    options: {
      rates: text("10,100,1000"),
      seconds: text("4"),
      teams: text("20"),
      limit: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const rates = values.rates.split(",").map(Number);
  const options = {
    seconds: Number(values.seconds),
    teams: Number(values.teams),
    limit: values.limit === undefined ? undefined : Number(values.limit),
  };
  const numbers = [...rates, options.seconds, options.teams, options.limit ?? 1];
  if (values.help || numbers.some((number) => !Number.isInteger(number) || number < 1)) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  setLogOutput(() => undefined);
  for (const rate of rates) {
    const result = await withDirectory("runyard-scale-", (directory) => simulate(directory, rate, options), FOLDER);
    print(rate, result);
  }
  return 0;
}

interface Result {
  readonly uses: readonly KeyUse[];
  readonly started: number;
  readonly ended: number;
}

async function simulate(directory: string, rate: number, { seconds, teams, limit }: Options): Promise<Result> {
  const time = new VirtualTime();
  const port = await firstFreePort(4_900);
  const webUrl = localUrl("127.0.0.1", port);
  const adapters = await openAdapters(directory);
  const limited = limitedTable(adapters.table, Date.now);
  let started = 0;
  let ended = 0;
  const sandbox = {
    async start(envelope: Envelope): Promise<undefined> {
      started++;
      execute(envelope);
    },
    stop: async () => true,
  };
  const scanner = {
    scan: async () => ({ outcome: "failed" as const, reason: "unreadable" as const, message: "none" }),
  };
  const sockets = new LocalWorkerSockets();
  process.env["CREATES_PER_MINUTE"] = "1000000";
  const ports = {
    ...createPorts({ ...adapters, table: limited.table }, { webUrl, sandbox, sockets, scanner, environment: {} }),
    maxExecutions: limit ?? rate * RUN_SECONDS,
    queue: {
      sendRun: async (runId: string) =>
        time.after(DISPATCH_MS, () => dispatchRun.handle(toEvent("runs", runId), ports).then(throwIfFailed)),
      sendEnd: async (runId: string) =>
        time.after(END_MS - FINISH_MS, async () => {
          throwIfFailed(await endRun.handle(toEvent("ends", runId), ports));
          ended++;
        }),
    },
  };
  const http = await startHttpServer({ host: "127.0.0.1", port, ports, adapters, sockets });
  const baseUrl = `${webUrl}/api/v1`;

  /** Makes the calls of a harness that executes one command. */
  function execute({ base_url, key, execution_id }: Envelope): void {
    const api = { baseUrl: base_url, key };
    const call = async (route: string, body: object) => {
      await callApi(api, "POST", `/harness-support/${route}`, v.unknown(), body);
    };
    const messages = [{ role: "assistant", content: [{ type: "text", text: "tick ".repeat(200) }] }];
    time.after(BEGIN_MS - DISPATCH_MS, () => call("resolve-prompt", {}));
    time.after(MESSAGES_MS - DISPATCH_MS, async () => {
      await call("messages", { execution_id, first_sequence: 1, messages });
      await call("heartbeat", { execution_id, followups_stored: 0 });
    });
    time.after(FINISH_MS - DISPATCH_MS, () => call("finish-task", { success: true, summary: "tick" }));
  }

  const apiKeys = await createTeams(teams, adapters.table);
  limited.reset();
  // Until the first runs have ended, shards lease their places, which they keep then.
  time.after(END_MS, async () => limited.reset());
  const between = 1_000 / rate;
  for (let number = 0; number < rate * seconds; number++) {
    const api = { baseUrl, key: apiKeys[number % teams] ?? "" };
    time.after(number * between, async () => {
      const body = { prompt: `Say tick, ${number}.`, title: "tick" };
      await callApi(api, "POST", "/agent/runs", v.unknown(), body);
    });
  }
  for (let at = PASS_MS / 2; at < seconds * 1_000 + END_MS; at += PASS_MS) {
    time.after(at, () => reapRuns.handle({ source: "aws.events", "detail-type": "Scheduled Event" }, ports));
  }
  await time.run();
  const uses = limited.report();
  await http.close();
  await adapters.database.close();
  time.restore();
  return { uses, started, ended };
}

/** Creates teams whose own limits keep no run waiting. Returns a key of each. */
async function createTeams(teams: number, table: Table): Promise<string[]> {
  const apiKeys: string[] = [];
  for (let number = 0; number < teams; number++) {
    const names = { teamName: `Team ${number}`, displayName: "Caller", email: `caller-${number}@example.com` };
    const { api_key, team_uid } = await bootstrap(table, Date.now(), names);
    await teamStore(table).update(team_uid, {
      set: { concurrency_limit: MAX_TEAM_RUNS, queue_limit: 100_000 },
      remove: [],
    });
    apiKeys.push(api_key);
  }
  return apiKeys;
}

const toEvent = (queue: string, run_id: string) =>
  toSqsEvent(queue, [
    {
      id: 1,
      messageId: randomUUID(),
      receipt: "1",
      body: JSON.stringify({ v: 1, run_id }),
      group: "",
      receives: 1,
      sentAt: Date.now(),
      firstReceivedAt: Date.now(),
    },
  ]);

function throwIfFailed({ batchItemFailures }: { readonly batchItemFailures: readonly unknown[] }): void {
  if (batchItemFailures.length > 0) throw new Error("a message was not handled");
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function print(rate: number, { uses, started, ended }: Result): void {
  const used = uses.filter(({ writes, reads, conflicts }) => Math.max(writes, reads, conflicts) >= 0.005);
  // What one run uses of its own partition does not grow with the rate.
  const shared = uses.filter(({ kind }) => !kind.startsWith("RUN#"));
  const most = Math.max(...shared.map(({ writes, reads }) => Math.max(writes, reads)));
  console.log(`\n## ${rate} runs a second\n`);
  console.log(
    `${started} executions started, ${ended} ended. The first partition is full at ${Math.floor(rate / most)} runs a second.\n`,
  );
  console.log("| partition | write units | read units | locked |\n|---|---:|---:|---:|");
  for (const { kind, writes, reads, conflicts } of used.slice(0, 15)) {
    console.log(`| \`${kind}\` | ${percent(writes)} | ${percent(reads)} | ${percent(conflicts)} |`);
  }
  console.error(dim(`${rate} runs a second: done`));
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
