import { Command } from "@commander-js/extra-typings";
import * as v from "valibot";
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
import { withExamples } from "./examples.ts";
import { readText } from "./trigger-events.ts";

/** The members of a trigger that a request creates it with: neither its secret nor what the service has recorded. */
function toRequest(trigger: TriggerItem): CreateTriggerRequest {
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
    pause_after_failures: trigger.pause_after_failures,
  });
}

export function exportCommand(context: Context) {
  const command = new Command("export")
    .description("print triggers as JSON that `create --file` takes, without their secrets")
    .argument("[uid...]", "uids of the triggers (default: all of your team)")
    .action(async (uids) => {
      const { triggers } = await context.client();
      const found =
        uids.length === 0 ? await listAll(triggers) : await Promise.all(uids.map((uid) => triggers.retrieve(uid)));
      const file = { triggers: found.map(toRequest) };
      context.show(file, () => context.say(JSON.stringify(file, null, 2)));
    });
  return withExamples(command, "runyard triggers export > triggers.json", "runyard triggers export $uid");
}

async function listAll(triggers: Runyard["triggers"]): Promise<TriggerItem[]> {
  const found: TriggerItem[] = [];
  for await (const trigger of triggers.list()) found.push(trigger);
  return found;
}

const TriggerFile = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ triggers: v.pipe(v.array(v.record(v.string(), v.unknown())), v.minLength(1)) }),
);

/** Reads the triggers of a file. The service checks their members. */
async function readTriggers(context: Context, file: string): Promise<readonly Record<string, unknown>[]> {
  const parsed = v.safeParse(TriggerFile, await readText(context, file));
  if (!parsed.success) throw usage(`--file: ${file} must be JSON such as {"triggers": [{"name": …, "kind": …}]}.`);
  return parsed.output.triggers;
}

/** Creates the triggers of a file one after the other, and prints the URL and the secret of each. */
export async function createFromFile(context: Context, file: string): Promise<void> {
  const client = await context.client();
  for (const body of await readTriggers(context, file)) {
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
  if (!context.json) context.note(context.errStyle.dim("Save the secrets now: they are shown only once."));
}
