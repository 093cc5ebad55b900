import { readFile } from "node:fs/promises";
import { Command, Option } from "@commander-js/extra-typings";
import * as v from "valibot";
import {
  type TestTriggerResponse,
  TRIGGER_OUTCOMES,
  type TriggerDelivery,
} from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { pairs } from "../options.ts";
import { usage } from "../problem.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";

/** An array would pass as a record of its indexes. */
const Payload = v.pipe(
  v.string(),
  v.parseJson(),
  v.check((value) => !Array.isArray(value)),
  v.record(v.string(), v.unknown()),
);
/** Events in the order in which they were delivered. */
const Events = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(
    v.object({
      headers: v.exactOptional(v.record(v.string(), v.string())),
      payload: v.record(v.string(), v.unknown()),
    }),
  ),
);
const TRIGGER = "uid of the trigger";
const DELIVERY = "id of the delivery";

export function deliveriesCommand(context: Context) {
  const command = new Command("deliveries")
    .description("list the deliveries to a trigger of the last 30 days with their outcomes, latest first")
    .argument("<uid>", TRIGGER)
    .addOption(new Option("--outcome <outcome>", "only deliveries with this outcome").choices(TRIGGER_OUTCOMES))
    .option("--all", "list all; with --json, print one per line")
    .action(async (uid, { all, outcome }) => {
      const client = await context.client();
      await printList(
        context,
        client.triggers.deliveries(uid, defined({ outcome })),
        [
          { name: "delivery", of: ({ delivery_id }) => delivery_id },
          { name: "received", of: ({ received_at }) => context.timeText(received_at) },
          { name: "event", of: ({ event_type: type, action }) => (action === undefined ? type : `${type}.${action}`) },
          { name: "outcome", of: outcomeText },
          { name: "run", of: ({ run_id, of, detail }) => run_id ?? of ?? detail ?? "" },
        ],
        { all, none: "There are no deliveries." },
      );
    });
  return withExamples(command, "runyard triggers deliveries $uid", "runyard triggers deliveries $uid --outcome failed");
}

export function deliveryCommand(context: Context) {
  const command = new Command("delivery")
    .description("show a delivery to a trigger with its payload")
    .argument("<uid>", TRIGGER)
    .argument("<delivery>", DELIVERY)
    .action(async (uid, id) => {
      const delivery = await (await context.client()).triggers.retrieveDelivery(uid, id);
      printDelivery(context, delivery, delivery.payload);
    });
  return withExamples(command, "runyard triggers delivery $uid $delivery");
}

export function redeliverCommand(context: Context) {
  const command = new Command("redeliver")
    .description("deliver the event of a delivery again, to the trigger as it is now")
    .argument("<uid>", TRIGGER)
    .argument("<delivery>", DELIVERY)
    .action(async (uid, id) =>
      printDelivery(context, await (await context.client()).triggers.redeliver(uid, id), undefined),
    );
  return withExamples(command, "runyard triggers redeliver $uid $delivery");
}

/** What the delivery resulted in, or that this is not decided yet. */
const outcomeText = ({ outcome, reason, will_retry }: TriggerDelivery): string =>
  outcome === undefined
    ? will_retry === true
      ? "pending (retried)"
      : "pending"
    : reason === undefined
      ? outcome
      : `${outcome} (${reason})`;

function printDelivery(context: Context, delivery: TriggerDelivery, payload: unknown): void {
  const { delivery_id, received_at, event_type: type, action } = delivery;
  context.show(delivery, () =>
    printFields(context, [
      ["delivery", delivery_id],
      ["received", context.timeText(received_at)],
      ["event", action === undefined ? type : `${type}.${action}`],
      ["outcome", outcomeText(delivery)],
      ["detail", delivery.detail],
      ["run", delivery.run_id],
      ["follow-up", delivery.followup_id],
      ["repeats", delivery.of ?? delivery.redelivery_of],
      ["payload", payload === undefined ? undefined : JSON.stringify(payload, null, 2)],
    ]),
  );
}

export function testCommand(context: Context) {
  const command = new Command("test")
    .description("show what an event would result in; creates nothing")
    .argument("<uid>", TRIGGER)
    .argument("<file>", "JSON object of the event, or a form with one; `-` reads it from standard input")
    .option("--header <name=value>", "header that names the type of the event; repeatable", pairs)
    .option("--prompt <template>", "template to test instead of the trigger's")
    .action(async (uid, file, { header, prompt }) => {
      const payload = await readPayload(context, file);
      const client = await context.client();
      printTest(context, await client.triggers.test(uid, { payload, ...defined({ headers: header, prompt }) }));
    });
  return withExamples(
    command,
    "runyard triggers test $uid event.json --header X-GitHub-Event=workflow_run",
    'runyard triggers test $uid event.json --prompt "Look into {{ event.payload.title }}"',
  );
}

export function replayCommand(context: Context) {
  const command = new Command("replay")
    .description("show what each event of a file would result in; creates nothing")
    .argument("<uid>", TRIGGER)
    .argument("<file>", "JSON array of {headers, payload}; `-` reads it from standard input")
    .action(async (uid, file) => {
      const parsed = v.safeParse(Events, await readText(context, file));
      if (!parsed.success) throw usage(`${file} is not a JSON array of objects with headers and payload.`);
      const client = await context.client();
      for (const event of parsed.output) printTest(context, await client.triggers.test(uid, event));
    });
  return withExamples(command, "runyard triggers replay $uid events.json");
}

function printTest(context: Context, tested: TestTriggerResponse): void {
  const { outcome, reason, event, missing_values: missing } = tested;
  context.show(tested, () =>
    printFields(context, [
      ["outcome", reason === undefined ? outcome : `${outcome} (${reason})`],
      ["detail", tested.detail],
      ["event", event.action === "" ? event.type : `${event.type}.${event.action}`],
      ["run", tested.run_id],
      ["missing", missing?.join(", ")],
      ["prompt", tested.prompt],
    ]),
  );
}

/** The JSON of a form, in which Slack sends buttons; other texts as they are. */
const readForm = (text: string): string =>
  text.startsWith("payload=") ? (new URLSearchParams(text.trimEnd()).get("payload") ?? "") : text;

async function readPayload(context: Context, file: string): Promise<Record<string, unknown>> {
  const parsed = v.safeParse(Payload, readForm(await readText(context, file)));
  if (!parsed.success) throw usage(`${file} is neither a JSON object nor a form with one as its payload.`);
  return parsed.output;
}

/** Reads a file, or standard input for `-`. */
export const readText = (context: Context, file: string): Promise<string> =>
  (file === "-" ? context.shell.readInput() : readFile(file, "utf8")).catch((error: unknown) => {
    throw usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
