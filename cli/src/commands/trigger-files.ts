import { Command, Option } from "@commander-js/extra-typings";
import * as v from "valibot";
import { Document, parse, visit } from "yaml";
import type {
  CreatedTrigger,
  CreateTriggerRequest,
  Runyard,
  TriggerItem,
} from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { usage } from "../problem.ts";
import { printFields } from "../table.ts";
import { printable, terminalJson } from "../terminal-text.ts";
import { withExamples } from "./examples.ts";
import { readText } from "./trigger-events.ts";

/** The members of a trigger that a request creates it with: neither its secret nor what the service has recorded. */
export function toRequest(trigger: TriggerItem): CreateTriggerRequest {
  const { kind, preset, verification } = trigger;
  // A preset has its own verification, except for one choice.
  const isOwn = preset === undefined || verification?.scheme === "bearer";
  return defined({
    name: trigger.name,
    kind,
    prompt: trigger.prompt,
    enabled: trigger.enabled,
    mode: trigger.mode,
    preset,
    verification: kind === "webhook" && isOwn ? verification : undefined,
    events: trigger.events,
    filter: trigger.filter,
    thread_key: trigger.thread_key,
    agent_uid: trigger.agent_uid,
    agent_config: trigger.agent_config,
    budget_usd: trigger.budget_usd,
    followup_prompt: trigger.followup_prompt,
    threads: trigger.threads,
    busy: trigger.busy,
    allow: trigger.allow,
    credential: trigger.credential,
    reply: trigger.reply,
    metadata: trigger.metadata,
    scopes: trigger.scopes,
    team: trigger.scope.type === "User" ? false : undefined,
    pause_after_failures: trigger.pause_after_failures,
  });
}

const FORMATS = ["json", "yaml"] as const;

export function exportCommand(context: Context) {
  const command = new Command("export")
    .description("print triggers as a file for `import`, without their secrets and claims of the GitHub App")
    .argument("[uid...]", "uids of the triggers (default: your team's and your personal ones)")
    .addOption(new Option("--format <format>", "format of the file").choices(FORMATS).default("json" as const))
    .action(async (uids, { format }) => {
      const { triggers } = await context.client();
      const found =
        uids.length === 0 ? await listAll(triggers) : await Promise.all(uids.map((uid) => triggers.retrieve(uid)));
      const file = { triggers: found.map((trigger) => ({ uid: trigger.uid, ...toRequest(trigger) })) };
      const content = format === "yaml" ? toYaml(file) : JSON.stringify(file, null, 2);
      context.show(file, () => {
        for (const line of content.split("\n")) context.say(terminalJson(line));
      });
    });
  return withExamples(command, "runyard triggers export > triggers.json", "runyard triggers export --format yaml $uid");
}

/** Characters that a terminal does not get as they are can be escaped in quotes only. */
function toYaml(file: object): string {
  const document = new Document(file);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "string") return;
      const text = node.value.replaceAll("\n", "");
      if (printable(text) !== text) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd();
}

export async function listAll(triggers: Runyard["triggers"]): Promise<TriggerItem[]> {
  const found: TriggerItem[] = [];
  for await (const trigger of triggers.list()) found.push(trigger);
  return found;
}

const TriggerFile = v.object({
  triggers: v.pipe(
    v.array(
      v.looseObject({
        name: v.string(),
        kind: v.string(),
        uid: v.optional(v.string()),
        verification: v.optional(v.looseObject({})),
      }),
    ),
    v.minLength(1),
  ),
});
export type TriggerEntry = v.InferOutput<typeof TriggerFile>["triggers"][number];

/** Reads the triggers of a file, in JSON or YAML. The service checks their other members. */
export async function readTriggers(context: Context, file: string): Promise<readonly TriggerEntry[]> {
  const content = await readText(context, file);
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw usage(`${file} is neither JSON nor YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = v.safeParse(TriggerFile, value);
  if (parsed.success) return parsed.output.triggers;
  const [issue] = parsed.issues;
  const place = v.getDotPath(issue);
  const problem = place === null ? issue.message : `${place}: ${issue.message}`;
  throw usage(`${file} must be such as {"triggers": [{"name": …, "kind": …}]}. ${problem}`);
}

/** Creates the triggers of a file one after the other, and prints the URL and the secret of each. */
export async function createFromFile(context: Context, file: string): Promise<void> {
  const client = await context.client();
  for (const { uid: _, ...body } of await readTriggers(context, file)) await createOne(context, client, body);
  if (!context.json) context.note(context.errStyle.dim("Save the secrets now: they are shown only once."));
}

/** Creates a trigger, and prints its URL and its secret. */
export async function createOne(context: Context, client: Runyard, body: object): Promise<void> {
  const created = await client.request<CreatedTrigger>({ method: "POST", path: "/agent/triggers", body });
  context.show(created, () =>
    printFields(context, [
      ["uid", created.uid],
      ["name", created.name],
      ["send to", created.ingress_url],
      ["secret", created.secret],
    ]),
  );
}
