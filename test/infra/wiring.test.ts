import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { entryFiles, findWiring } from "#infra/entries.ts";
import { eventSources } from "#infra/event-sources.ts";
import type { Rights } from "#infra/rights.ts";
import { routes } from "#infra/routes.ts";
import { setClientHook } from "#shared/aws/client-settings.ts";
import { addMiddleware, commandOf, serviceOf } from "#shared/aws/middleware.ts";
import { createEventQueue, createFunctionCaller, createRunQueue, createScheduler } from "#shared/wiring/adapters.ts";
import { createEndPorts } from "#shared/wiring/executions.ts";
import * as lazy from "#shared/wiring/lazy-adapters.ts";
import { createGatewayPorts } from "#shared/wiring/model-gateway.ts";
import { startServer } from "../support/http-server.ts";
import { EVERY_SETTING, repository, synthesize } from "./synthesize.ts";

interface Deployed {
  readonly FunctionName: string;
  readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
}

const owner = { type: "Team", uid: "team" } as const;
const envelope = { version: 1, run_id: "run", execution_id: "execution", key: "key", base_url: "b", model_url: "m" };
const placed = { executionId: "execution", handle: "handle" };
/** For each right, with its action if they differ: the port that needs it, as `port.method`, and its arguments. */
const USES: Readonly<Record<string, readonly (readonly [method: string, ...given: readonly unknown[]])[]>> = {
  table: [["table.get", { pk: "a", sk: "b" }]],
  live: [["live.read", "run"]],
  bucket: [
    ["files.get", "key"],
    ["files.size", "key"],
    ["fileRemoval.remove", "key"],
    ["fileRemoval.removeAll", "prefix/"],
  ],
  runsQueue: [["queue.sendRun", "run", owner, 7]],
  endsQueue: [["queue.sendEnd", "run", owner]],
  eventsQueue: [["events.sendDelivery", { trigger_uid: "trigger", delivery_id: "delivery" }]],
  deadRunsQueue: [["deadRuns.drain", async () => ({ batchItemFailures: [] })]],
  sandbox: [
    ["sandbox.start", envelope, { provider: "lambda" }],
    ["scanner.scan", { kind: "scan" }],
  ],
  "sandboxes start": [
    ["sandbox.start", envelope, { provider: "microvm" }],
    ["sandbox.start", envelope, { provider: "fargate", dockerImage: "node:24" }],
  ],
  "sandboxes stop": [
    ["sandbox.stop", { ...placed, provider: "microvm" }],
    ["sandbox.stop", { ...placed, provider: "fargate" }],
    ["sandbox.stop", { ...placed, provider: "lambda" }],
  ],
  workerSockets: [["sockets.post", "connection", "{}"]],
  discovery: [["discovery.refresh", { url: "https://github.com/acme/shop", ref: "main" }]],
  github: [["github.token"]],
  "secrets GetParameters": [["vault.getAll", "team", ["id"]]],
  "secrets DeleteParameter": [["vault.remove", "team", "id"]],
  "secretsKey PutParameter": [["vault.put", "team", "id", "value"]],
  "timers UpdateSchedule": [["scheduler.put", { id: "id", expression: "cron(0 0 * * ? *)", timeZone: "UTC" }]],
  "timers DeleteSchedule": [["scheduler.remove", "id"]],
  signInIssuer: [["signInIssuer.clientSecret"]],
  "identityKeys GetParameter": [["signingKeys.listPublic"]],
};

let calls: string[] = [];
/** What every call returns. */
let output: object = {};
beforeAll(() => {
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-05-18T19:00:00Z") });
  // No call leaves this process: the first middleware of each client records it.
  setClientHook((client) => {
    const record = { step: "initialize", name: "recordCall" } as const;
    addMiddleware(client, record, (_, context) => async ({ input }) => {
      calls.push(`${serviceOf(context)} ${commandOf(context)} ${JSON.stringify(input)}`);
      return { output, response: undefined };
    });
  });
});
afterAll(() => {
  setClientHook(undefined);
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const lines = new Map<string, readonly { file: string; rights: Rights; name: string }[]>();
for (const file of entryFiles.filter((one) => one !== eventSources.runSandbox.file)) {
  const line = [...routes, ...Object.values(eventSources)].find((one) => one.file === file);
  const named = line !== undefined && "name" in line ? line.name : undefined;
  const wiring = findWiring(file).join(" ");
  const entry = { file, rights: line?.rights ?? {}, name: `runyard-${named ?? file.replace(/^.*\//, "")}` };
  lines.set(wiring, [...(lines.get(wiring) ?? []), entry]);
}

describe("the ports of every function", () => {
  it("are those of wiring.txt, with the settings of its template (`npx vitest run test/infra/wiring.test.ts -u` after a change)", async () => {
    const functions = synthesize({ ...EVERY_SETTING, baseUrl: "https://api.example/api/v1" }).all<Deployed>(
      "AWS::Lambda::Function",
    );
    const text: string[] = [];
    for (const [wiring, entries] of lines) {
      const [module = "", create = ""] = wiring.split(" ");
      const described = new Map<string, string[]>();
      const note = (line: string, file: string) => described.set(line, [...(described.get(line) ?? []), file]);
      for (const { file, rights, name } of entries) {
        const deployed = functions.find(({ Properties }) => Properties.FunctionName === name);
        const variables = Object.entries(deployed?.Properties.Environment.Variables ?? {});
        for (const [variable, value] of variables) vi.stubEnv(variable, toText(value));
        const path = join(repository, "shared/wiring", `${module}.ts`);
        const ports: unknown = callMethod(await import(pathToFileURL(path).href), create);
        for (const line of [...describePorts(ports), ...(await usePorts(ports, rights))]) note(line, file);
        for (const [variable] of variables) vi.stubEnv(variable, undefined);
      }
      text.push(`${wiring}: ${entries.map(({ file }) => file).join(", ")}`);
      for (const [line, files] of described) {
        const which = files.length === entries.length ? "" : ` (${files.join(", ")})`;
        text.push(`  ${line}${which}`);
      }
      text.push("");
    }
    await expect(text.join("\n")).toMatchFileSnapshot("wiring.txt");
  });
});

describe("the adapters that are loaded by their first use", () => {
  it("make the same calls as those that are loaded at once", async () => {
    for (const [variable, value] of Object.entries({
      RUNS_QUEUE_URL: "https://sqs.test/runs",
      ENDS_QUEUE_URL: "https://sqs.test/ends",
      EVENTS_QUEUE_URL: "https://sqs.test/events",
      SCHEDULE_GROUP: "group",
      FIRE_SCHEDULE_ARN: "arn:function",
      SCHEDULER_ROLE_ARN: "arn:role",
    })) {
      vi.stubEnv(variable, value);
    }
    const use = async (
      adapters:
        | typeof lazy
        | {
            [N in "createRunQueue" | "createEventQueue" | "createScheduler" | "createFunctionCaller"]: (typeof lazy)[N];
          },
    ) => {
      calls = [];
      await adapters.createRunQueue().sendRun("run", owner, 7);
      await adapters.createRunQueue().sendRun("run", owner);
      await adapters.createRunQueue().sendEnd("run", owner);
      await adapters.createEventQueue().sendDelivery({ trigger_uid: "trigger", delivery_id: "delivery" });
      await adapters.createScheduler().put({ id: "id", expression: "cron(0 0 * * ? *)", timeZone: "UTC" });
      await adapters.createScheduler().remove("id");
      await adapters.createFunctionCaller()("function", { a: 1 }, { timeoutMs: 1000 });
      return calls;
    };
    const expected = await use({ createRunQueue, createEventQueue, createScheduler, createFunctionCaller });
    expect(expected).toHaveLength(7);
    expect(await use(lazy)).toEqual(expected);
  });
});

describe("the ports of the model gateway", () => {
  it("send a call to each provider that is configured, with its key from Systems Manager", async () => {
    const sent: (string | null)[][] = [];
    await using server = await startServer(({ method, url = "", headers }, response) => {
      if (method === "POST" && url === "/v1/x") sent.push([url, null, headers.authorization ?? null]);
      response.end("{}");
    });
    for (const [variable, value] of Object.entries({
      TABLE_NAME: "table",
      MODEL_PROVIDERS: "anthropic,openai,compatible",
      ANTHROPIC_KEY_PARAMETER: "/anthropic",
      OPENAI_KEY_PARAMETER: "/openai",
      COMPATIBLE_BASE_URL: `${server.url}/v1`,
    })) {
      vi.stubEnv(variable, value);
    }
    vi.stubGlobal("fetch", async (url: string, { headers: given }: RequestInit) => {
      const headers = new Headers(given);
      sent.push([url, headers.get("x-api-key"), headers.get("authorization")]);
      return new Response();
    });
    [calls, output] = [[], { Parameter: { Value: "key" } }];
    const { anthropic, openai, compatible, bedrock } = createGatewayPorts().providers;
    const dialect = { upstreamPath: "/x", error: () => ({}) };
    const call = { dialect, request: { model: "m" }, headers: {}, signal: AbortSignal.timeout(10_000) };
    for (const provider of [anthropic, openai, compatible]) await provider?.(call);
    output = {};
    vi.unstubAllGlobals();
    expect(sent).toEqual([
      ["https://api.anthropic.com/x", "key", null],
      ["https://api.openai.com/v1/x", null, "Bearer key"],
      ["/v1/x", null, null],
    ]);
    expect(calls.map((line) => /"Name":"([^"]*)"/.exec(line)?.[1])).toEqual(["/anthropic", "/openai"]);
    expect(bedrock).toBeUndefined();
  });
});

it("the ports of the consumer that ends runs cannot stop a Lambda function", async () => {
  for (const variable of ["TABLE_NAME", "BUCKET_NAME", "BASE_URL"]) vi.stubEnv(variable, "x");
  const { sandbox } = createEndPorts();
  const placed = { provider: "lambda", executionId: "execution", handle: undefined } as const;
  expect(await sandbox.stop(placed)).toBe(false);
});

/** Formats a CloudFormation reference as the names in it. */
const toText = (value: unknown): string =>
  typeof value === "string" ? value : [...JSON.stringify(value).matchAll(/[A-Z]\w{3,}/g)].join(".");

/** Describes each port by name: its value if it is primitive, else the names of its members. */
function describePorts(ports: unknown): string[] {
  if (typeof ports !== "object" || ports === null) throw new Error("there are no ports");
  return Object.entries(ports)
    .map(([name, value]) => `${name} = ${describeValue(name, value)}`)
    .toSorted();
}

function describeValue(name: string, value: unknown): string {
  if (name === "routes") return "the table of routes";
  if (typeof value === "function") return "function";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value) ?? "undefined";
  // The type checker knows the methods of a port.
  if (Object.values(value).every((inner) => typeof inner === "function")) return "port";
  const members = Object.entries(value).map(([member, inner]) =>
    ["function", "object"].includes(typeof inner) ? member : `${member}: ${JSON.stringify(inner)}`,
  );
  return `{ ${members.toSorted().join(", ")} }`;
}

/** The AWS calls that the ports make, with the names of the called resources. */
async function usePorts(ports: unknown, rights: Rights): Promise<string[]> {
  calls = [];
  for (const [right, actions] of Object.entries(rights)) {
    const named = Array.isArray(actions) ? actions.map((action) => `${right} ${action}`) : [];
    for (const [method, ...given] of [right, ...named].flatMap((name) => USES[name] ?? [])) {
      const [port = "", name = ""] = method.split(".");
      const target = memberOf(ports, port);
      if (target === undefined) continue;
      await Promise.resolve(callMethod(target, name, ...given)).catch(() => undefined);
    }
  }
  return calls.map((call) =>
    call
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>")
      .replaceAll(/"Value":"(?:[^"\\]|\\.)*"/g, '"Value":"<keys>"')
      .replaceAll(/"key":\{"S":"[0-9a-f]{12}"\}/g, '"key":{"S":"<id>"}')
      .replaceAll(/"B":"[^"]*"/g, '"B":"<bytes>"'),
  );
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

function callMethod(target: unknown, name: string, ...given: readonly unknown[]): unknown {
  const method = memberOf(target, name);
  if (typeof method !== "function") throw new Error(`there is no ${name}`);
  return Reflect.apply(method, target, given);
}

it("findWiring names a file of a folder that has no ports", () => {
  expect(() => findWiring("nowhere/do-it")).toThrow(
    "infra/entries.ts does not say which ports functions/nowhere/do-it.ts needs",
  );
});
