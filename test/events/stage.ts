import { join } from "node:path";
import * as v from "valibot";
import { type FixtureValues, fillFixture } from "../../emulator/event-fixture.ts";
import { prepareClaim } from "../support/claim-installation.ts";
import { FALLBACK_PORTS } from "../support/client.ts";
import { BASE_URL, createTestControlPlane } from "../support/control-plane.ts";
import { allowPush } from "../support/execution.ts";
import type { Outcome } from "./expectations.ts";
import { findTarget, readText, type Target, toKind } from "./fixtures.ts";
import { ISSUER, makeOidcStage } from "./oidc-stage.ts";
import { runSandbox } from "./sandbox.ts";

const Reply = v.object({ statusCode: v.number(), headers: v.record(v.string(), v.string()), body: v.string() });
const Status = v.object({ statusCode: v.number() });
const Problem = v.object({
  error_code: v.string(),
  errors: v.optional(v.array(v.object({ path: v.string() })), []),
});
const Batch = v.object({ batchItemFailures: v.array(v.object({ itemIdentifier: v.string() })) });
const Definition = v.object({ handle: v.function() });
const Thing = v.object({
  uid: v.optional(v.string(), ""),
  id: v.optional(v.string(), ""),
  link: v.optional(v.string(), ""),
  user_uid: v.optional(v.string(), ""),
  delivery_id: v.optional(v.string(), ""),
  sessions: v.optional(v.array(v.object({ uid: v.string() })), []),
});
/** A response that is itself an upload target. */
const Place = v.object({ url: v.string(), method: v.string() });
const Made = v.partial(
  v.object({ run_id: v.string(), artifact_uid: v.string(), upload: v.object({ url: v.string() }), ...Place.entries }),
);

/** The content that events/http/report-artifact.json and events/http/upload-transcript.json describe. */
const ARTIFACT = "hello\n";

/** The header of CloudFront's requests in events/url/stream-events.json. */
const ORIGIN_SECRET = "5d2c1b0a-9f8e-4d7c-8b6a-5f4e3d2c1b0a";

/** What signs events/http/receive-app-event.json. */
const APP_WEBHOOK_SECRET = "the-secret-of-the-app";

/** What a model says to events/url/call-model.json. */
const MODEL_RESPONSE = {
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "Hello." }],
  usage: { input_tokens: 11, output_tokens: 3 },
};

/** Creates a control plane in memory that plays fixtures, each filled with the ids that earlier ones created. */
export async function makeStage(now = 0) {
  const controlPlane = await createTestControlPlane();
  controlPlane.clock.now = Math.max(controlPlane.clock.now, now);
  await prepareClaim({ plane: controlPlane });
  const oidc = await makeOidcStage(controlPlane.clock.now);
  const passes: number[] = [];
  const models = {
    providers: { anthropic: async () => Response.json(MODEL_RESPONSE) },
    sleep: async () => undefined,
    log: () => undefined,
  };
  const ports = {
    ...controlPlane.ports,
    ...models,
    issuers: oidc.issuers,
    signInIssuer: oidc.signInIssuer,
    appWebhookSecret: async () => APP_WEBHOOK_SECRET,
    passes: { everySeconds: 15, sendPass: async (pass: number) => void passes.push(pass) },
    deadRuns: { drain: async () => undefined },
  };
  const values: FixtureValues = {
    api_key: controlPlane.key,
    team_uid: controlPlane.team,
    base_url: BASE_URL,
    other_key: controlPlane.otherKey,
    oidc_token: oidc.token,
  };

  /** Writes what no earlier fixture does. */
  async function prepare(fixture: string): Promise<void> {
    if (fixture === "http/push-branch.json") await allowPush(controlPlane, values.run_id ?? "");
  }

  async function play(fixture: string): Promise<Outcome> {
    const target = findTarget(fixture);
    await prepare(fixture);
    const event = fillFixture(readText(fixture), values);
    controlPlane.clock.now = Math.max(controlPlane.clock.now, readTime(event));
    try {
      if (target.name === "run-sandbox") return await runSandbox(event);
      const response = await invokeTarget(target, event);
      if (toKind(fixture) === "http") {
        const reply = v.parse(Reply, response);
        await keepIds(reply);
        Object.assign(values, parseIds(target.name, reply));
      }
      return readOutcome(fixture, response);
    } catch (error) {
      return { throws: error instanceof Error ? error.message : String(error) };
    } finally {
      const envelope = controlPlane.started.at(-1);
      if (envelope !== undefined) {
        values.run_key = envelope.key;
        values.execution_id = envelope.execution_id;
      }
    }
  }

  /** Keeps the ids in a response, and uploads to its upload target if it has one. */
  async function keepIds({ statusCode, body }: v.InferOutput<typeof Reply>): Promise<void> {
    const made = v.safeParse(v.pipe(v.string(), v.parseJson(), Made), body);
    if (statusCode !== 200 || !made.success) return;
    const { run_id, artifact_uid, method, url } = made.output;
    const place = made.output.upload?.url ?? (method === undefined ? undefined : url);
    if (run_id !== undefined) Object.assign(values, { run_id, conversation_id: run_id });
    if (artifact_uid !== undefined) values.artifact_uid = artifact_uid;
    if (place !== undefined) await controlPlane.files.put(new URL(place).pathname.slice(1), ARTIFACT, "text/plain");
  }

  async function invokeTarget(target: Target, event: unknown): Promise<unknown> {
    const file = join(import.meta.dirname, "../../functions", `${target.file}.ts`);
    const module = v.parse(v.record(v.string(), v.unknown()), await import(file));
    const definition = v.parse(Definition, module[toExportName(target.file)]);
    return definition.handle(event, {
      ...ports,
      ...FALLBACK_PORTS,
      originSecret: ORIGIN_SECRET,
      who: target.who,
      scope: target.scope,
    });
  }

  return {
    play,
    prepare,
    values,
    /** The values of secrets, each by its team and id, in their two vaults. */
    secrets: { teams: controlPlane.vault.values, webhooks: controlPlane.webhooks.secrets.values },
    /** The stored files. */
    files: controlPlane.files.files,
    /** Plays the issuer of tokens, the provider of models, and GitHub, for a function that requests them by their URLs. */
    async internet(url: string): Promise<Response> {
      if (url.startsWith(ISSUER)) return oidc.issuers.fetch(url);
      if (url.startsWith("https://api.anthropic.com/")) return Response.json(MODEL_RESPONSE);
      const { appClient } = controlPlane.repositories;
      return appClient === undefined ? Response.error() : appClient.api.fetch(url);
    },
    /** The values of the parameters of the GitHub App, by the ends of their names. */
    appParameters: async () => ({
      key: (await controlPlane.repositories.appClient?.privateKey()) ?? "",
      "client-secret": "secret",
      "webhook-secret": APP_WEBHOOK_SECRET,
    }),
    /** Everything that a fixture can change. */
    contents: () =>
      structuredClone({
        items: controlPlane.table.all(),
        files: [...controlPlane.files.files.keys()],
        sent: controlPlane.sent,
        started: controlPlane.started,
        passes,
      }),
    /** The state of the run that the fixtures are about. */
    async state(): Promise<string | undefined> {
      return values.run_id === undefined ? undefined : (await controlPlane.ports.runs.head(values.run_id))?.state;
    },
  };
}

/** What a response of the function of a fixture says. */
export function readOutcome(fixture: string, response: unknown): Outcome {
  const kind = toKind(fixture);
  if (kind === "invocation") return { responses: response ?? null };
  if (kind === "url" || kind === "socket") return { status: v.parse(Status, response).statusCode };
  if (kind === "http") return toOutcome(v.parse(Reply, response));
  const { batchItemFailures } = v.parse(Batch, response ?? { batchItemFailures: [] });
  return { failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) };
}

/** The ids in a function's response, by the function's name. */
const idsByFunction: Readonly<Record<string, (made: v.InferOutput<typeof Thing>) => FixtureValues>> = {
  "create-schedule": ({ id }) => ({ schedule_id: id }),
  "create-identity": ({ uid }) => ({ identity_uid: uid }),
  "create-environment": ({ uid }) => ({ environment_uid: uid }),
  "create-identity-key": ({ uid }) => ({ key_uid: uid }),
  "create-trust-rule": ({ uid }) => ({ rule_uid: uid }),
  "create-trigger": ({ uid }) => ({ trigger_uid: uid }),
  "receive-event": ({ delivery_id }) => ({ delivery_id }),
  "create-webhook": ({ uid }) => ({ webhook_uid: uid }),
  "create-key": ({ uid }) => ({ key_uid: uid }),
  "accept-invitation": ({ user_uid }) => ({ member_uid: user_uid }),
  "create-invitation": ({ id, link }) => ({ invitation_id: id, invitation_token: link.split("/").at(-1) ?? "" }),
  "list-web-sessions": ({ sessions: [first] }) => ({ session_uid: first?.uid ?? "" }),
};

/** Functions whose response has ids without having created a resource. */
const OK_FUNCTIONS = ["list-web-sessions", "receive-event"];

function parseIds(name: string, { statusCode, body }: v.InferOutput<typeof Reply>): FixtureValues {
  const toIds = idsByFunction[name];
  const isMade = statusCode === 201 || (statusCode === 200 && OK_FUNCTIONS.includes(name));
  return toIds === undefined || !isMade ? {} : toIds(v.parse(v.pipe(v.string(), v.parseJson(), Thing), body));
}

const Dated = v.union([
  v.pipe(
    v.object({ Records: v.array(v.object({ attributes: v.object({ SentTimestamp: v.string() }) })) }),
    v.transform(({ Records }) => Number(Records[0]?.attributes.SentTimestamp)),
  ),
  v.pipe(
    v.object({ time: v.string() }),
    v.transform(({ time }) => Date.parse(time)),
  ),
  v.pipe(
    v.object({ scheduled_time: v.pipe(v.string(), v.isoTimestamp()) }),
    v.transform(({ scheduled_time: time }) => Date.parse(time)),
  ),
]);

/** When a queue or a timer sent the event, or 0. The stage's clock is never behind that. */
function readTime(event: unknown): number {
  const dated = v.safeParse(Dated, event);
  return dated.success ? dated.output : 0;
}

function toOutcome({ statusCode, body }: v.InferOutput<typeof Reply>): Outcome {
  if (statusCode < 400) return { status: statusCode };
  const { error_code, errors } = v.parse(v.pipe(v.string(), v.parseJson(), Problem), body);
  const fields = errors.map(({ path }) => path);
  return { status: statusCode, error_code, ...(fields.length === 0 ? {} : { fields }) };
}

/** The name under which a file of functions/ exports its definition. */
function toExportName(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
