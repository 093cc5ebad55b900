import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Bundle, bundle } from "#infra/bundle.ts";
import { ssmClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { ssmKeySetStore } from "#shared/aws/ssm-key-set-store.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createVaultKeys, type VaultKeys } from "#shared/vault/vault-keys.ts";
import { ACCOUNT, REGION } from "../../emulator/account.ts";
import { callEmulator } from "../../emulator/emulator-calls.ts";
import { fillFixture } from "../../emulator/event-fixture.ts";
import { fetchRuntimeInterface, type RuntimeInterface } from "../../scripts/runtime-interface.ts";
import { expectations, type Outcome } from "../events/expectations.ts";
import { findTarget, fixtures, isBad, readText, toKind } from "../events/fixtures.ts";
import { ISSUER } from "../events/oidc-stage.ts";
import { makeStage, readOutcome } from "../events/stage.ts";
import { synthesize } from "../infra/synthesize.ts";
import { BASE_URL } from "../support/control-plane.ts";
import { createBucket, createTable, type EmulatedAws, emulatedAws } from "../support/emulator.ts";
import { freePort } from "../support/free-port.ts";
import { startOutside } from "./outside.ts";

const START_MS = 900_000;
const repository = path.join(import.meta.dirname, "../..");

/** The settings of the deployment: what the fixtures of tokens, sign-in, models and the GitHub App need. */
const SETTINGS = {
  baseUrl: BASE_URL,
  githubAppId: "1",
  anthropicKeyParameter: "/ours/anthropic",
  oidcIssuer: ISSUER,
  oidcClientId: "runyard",
};

interface Deployed {
  readonly FunctionName: string;
  /** Absent where the function is an image. */
  readonly Handler?: string;
  readonly MemorySize: number;
  readonly Environment?: { readonly Variables: Readonly<Record<string, unknown>> };
}

const VAULTS = ["teams", "webhooks"] as const;

let aws: EmulatedAws;
let vaultKeys: Readonly<Record<(typeof VAULTS)[number], VaultKeys>>;
let lambda: RuntimeInterface;
let code: Bundle;
let root: string;
let queueUrl: string;
const deployed = new Map<string, Deployed>();
/** What each function took, for the report. */
const taken: { name: string; init_ms: number; memory_mb: number }[] = [];

beforeAll(async () => {
  // The stage logs what it plays.
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  root = mkdtempSync(path.join(tmpdir(), "runyard-runtime-interface-"));
  symlinkSync(path.join(repository, "node_modules"), path.join(root, "node_modules"));
  lambda = await fetchRuntimeInterface();
  code = bundle({ outdir: path.join(root, "real/functions") });
  for (const { Properties } of synthesize(SETTINGS).all<Deployed>("AWS::Lambda::Function")) {
    deployed.set(Properties.FunctionName, Properties);
  }
  // After the bundle, which lets nothing else happen meanwhile, so that idle connections to the emulator would close.
  aws = await emulatedAws();
  const { body } = await callEmulator(aws.access, "sqs", "AmazonSQS.CreateQueue", { QueueName: "any" });
  queueUrl = v.parse(v.object({ QueueUrl: v.string() }), body).QueueUrl;
  await createTable("live");
  const openKeys = (parameter: string) =>
    createVaultKeys(
      ssmKeySetStore(
        ssmClient(),
        () => parameter,
        () => undefined,
      ),
      Date.now,
    );
  vaultKeys = { teams: openKeys("/runyard/vault/secrets"), webhooks: openKeys("/runyard/vault/webhook-secrets") };
  const app = Object.entries(await (await makeStage()).appParameters());
  const parameters = [
    ["/ours/anthropic", "a key"],
    ...app.map(([name, value]) => [`/runyard/github-app-${name}`, value]),
  ];
  for (const [Name, Value] of parameters)
    await callEmulator(aws.access, "ssm", "AmazonSSM.PutParameter", { Name, Value, Type: "SecureString" });
}, START_MS);

afterAll(async () => {
  vi.restoreAllMocks();
  await aws?.stop();
  rmSync(root, { recursive: true, force: true });
  const largest = taken.toSorted((one, other) => other.memory_mb - one.memory_mb);
  const lines = largest.map(
    ({ name, init_ms: init, memory_mb: memory }) => `${name.padEnd(40)} ${init} ms  ${memory} MB`,
  );
  console.log(
    `First invocations under the Runtime Interface Emulator: initialization, most memory\n${lines.join("\n")}`,
  );
}, START_MS);

/** One fixture for each function and each kind of its events. */
const first = fixtures.filter((fixture) => {
  const { name } = findTarget(fixture);
  // Any other event would start an agent: see the tests of the sandbox.
  if (name === "run-sandbox") return fixture === "invocation/run-sandbox.bad.json";
  return !isBad(fixture) && fixture === `${toKind(fixture)}/${name}.json`;
});

describe.concurrent("the deployed code under the Runtime Interface Emulator", () => {
  test.each(first)(
    "responds to %s",
    async (fixture) => {
      const { name, file } = findTarget(fixture);
      const { after = [], outcome } = expectations[fixture] ?? {};
      const stage = await makeStage(Date.now());
      for (const earlier of after) await stage.play(earlier);
      await stage.prepare(fixture);
      const id = randomUUID();
      await Promise.all([createTable(id), createBucket(aws.s3, id)]);
      const store = dynamoTable(aws.dynamo, id);
      for (const item of stage.contents().items) await store.write({ kind: "put", item });
      for (const kind of VAULTS) {
        for (const [name, value] of stage.secrets[kind]) {
          const [team = "", secret = ""] = name.split("/");
          await tableVault(store, vaultKeys[kind]).put(team, secret, value);
        }
      }
      for (const [Key, Body] of stage.files) await aws.s3.send(new PutObjectCommand({ Bucket: id, Key, Body }));
      await using outside = await startOutside(stage.internet);
      const event = fillFixture(readText(fixture), stage.values);
      const resources = { TABLE_NAME: id, BUCKET_NAME: id };
      const { payload, log } = await invoke(name, file, { resources, variables: outside.variables, event });
      expect(read(fixture, payload), `${payload.slice(0, 600)}\n${log.slice(-1500)}`).toEqual(toPattern(outcome));
    },
    START_MS,
  );
});

/** The message of an error may have more text. */
const toPattern = (outcome: Outcome | undefined): unknown =>
  outcome !== undefined && "throws" in outcome ? { throws: expect.stringContaining(outcome.throws) } : outcome;

const Failure = v.object({ errorType: v.string(), errorMessage: v.string() });

/** A function that streams responds with the head of its response as JSON, eight zero bytes, and the body. */
function read(fixture: string, payload: string): Outcome {
  const [head = ""] = payload.split("\0");
  const response: unknown = head === "" ? undefined : JSON.parse(head);
  if (v.is(Failure, response)) return { throws: response.errorMessage };
  return readOutcome(fixture, response);
}

interface Invocation {
  /** Names of resources, by the function's variables. */
  readonly resources: Readonly<Record<string, string>>;
  /** Other variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly event: unknown;
}

/** Starts one function as Lambda does, and invokes it once. */
async function invoke(name: string, file: string, { resources, variables, event }: Invocation) {
  const settings = deployed.get(`runyard-${name}`) ?? deployed.get(`runyard-${name}-image`);
  if (settings === undefined) throw new Error(`no template has a function runyard-${name}`);
  const [port, runtimePort] = [await freePort(), await freePort()];
  const child = spawn(
    lambda.emulator,
    [
      ...["--runtime-interface-emulator-address", `127.0.0.1:${port}`],
      ...["--runtime-api-address", `127.0.0.1:${runtimePort}`],
      ...[process.execPath, ...(settings.Handler === undefined ? ["entry.mjs"] : [lambda.client, settings.Handler])],
    ],
    {
      cwd: code.assetDir(file),
      env: { ...environment(settings, code.assetDir(file), resources), ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (log += String(chunk)));
  try {
    const payload = await send(child, port, event);
    const [, duration = "0"] = /INIT REPORT\(durationMs: ([\d.]+)/.exec(log) ?? [];
    taken.push({ name, init_ms: Math.round(Number(duration)), memory_mb: readPeak(child.pid ?? 0) });
    return { payload, log };
  } finally {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    // It ends the function, too.
    child.kill("SIGTERM");
    await ended;
  }
}

async function send(child: ChildProcess, port: number, event: unknown): Promise<string> {
  const address = `http://127.0.0.1:${port}/2015-03-31/functions/function/invocations`;
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    const response = await fetch(address, { method: "POST", body: JSON.stringify(event) }).catch((error: unknown) => {
      if (child.exitCode !== null || Date.now() > deadline) throw error;
      return undefined;
    });
    if (response !== undefined) return response.text();
  }
}

/** The most memory of the function, the only process that the emulator starts, in MB. */
function readPeak(pid: number): number {
  // Any thread of the emulator may have started it.
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/children`);
  const lists = threads.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8").trim());
  const [child] = lists.flatMap((list) => list.split(" ")).filter((id) => id !== "");
  if (child === undefined) return 0;
  const [, kilobytes = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1000);
}

/** The variables that the template gives the function, with the names of resources here, and those of Lambda. */
function environment(
  { FunctionName, MemorySize, Environment }: Deployed,
  folder: string,
  resources: Record<string, string>,
) {
  const variables = Object.entries(Environment?.Variables ?? {}).map(([name, value]) => {
    const here = name.endsWith("QUEUE_URL") ? queueUrl : { ...resources, ...HERE }[name];
    return [name, here ?? (typeof value === "string" ? value : "resource")];
  });
  return {
    PATH: process.env["PATH"],
    HOME: root,
    ...Object.fromEntries(variables),
    AWS_ENDPOINT_URL: aws.access.endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: aws.access.secretKey,
    AWS_LAMBDA_FUNCTION_NAME: FunctionName,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
    // More than the function has on Lambda: this machine may be slower.
    AWS_LAMBDA_FUNCTION_TIMEOUT: "300",
    LAMBDA_TASK_ROOT: folder,
  };
}

const HERE: Readonly<Record<string, string>> = {
  LIVE_TABLE_NAME: "live",
  // It exists in every account.
  SCHEDULE_GROUP: "default",
  // The secret in the fixture of events/url/stream-events.json.
  ORIGIN_SECRET: "5d2c1b0a-9f8e-4d7c-8b6a-5f4e3d2c1b0a",
  SCHEDULER_ROLE_ARN: `arn:aws:iam::${ACCOUNT}:role/any`,
  FIRE_SCHEDULE_ARN: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:runyard-fire-schedule`,
  WORKER_SOCKET_ENDPOINT: "http://127.0.0.1:9",
  MODEL_URL: "http://127.0.0.1:9",
};
