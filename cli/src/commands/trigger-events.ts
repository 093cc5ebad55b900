import { readFile } from "node:fs/promises";
import { Command } from "@commander-js/extra-typings";
import * as v from "valibot";
import type { TestTriggerResponse } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { pairs } from "../options.ts";
import { usage } from "../problem.ts";
import { printFields, printList, timeText } from "../table.ts";
import { withExamples } from "./examples.ts";

/** An array would pass as a record of its indexes. */
const Payload = v.pipe(
  v.string(),
  v.parseJson(),
  v.check((value) => !Array.isArray(value)),
  v.record(v.string(), v.unknown()),
);
const TRIGGER = "uid of the trigger";

export function deliveriesCommand(context: Context) {
  const command = new Command("deliveries")
    .description("list the deliveries to a trigger of the last 30 days with their outcomes, latest first")
    .argument("<uid>", TRIGGER)
    .option("--all", "list all; with --json, print one per line")
    .action(async (uid, { all }) => {
      const client = await context.client();
      await printList(
        context,
        client.triggers.deliveries(uid),
        [
          { name: "delivery", of: ({ delivery_id }) => delivery_id },
          { name: "received", of: ({ received_at }) => timeText(received_at) },
          { name: "event", of: ({ event_type: type, action }) => (action === undefined ? type : `${type}.${action}`) },
          { name: "outcome", of: ({ outcome, reason }) => (reason === undefined ? outcome : `${outcome} (${reason})`) },
          { name: "run", of: ({ run_id, of, detail }) => run_id ?? of ?? detail ?? "" },
        ],
        { all, none: "There are no deliveries." },
      );
    });
  return withExamples(command, "runyard triggers deliveries $uid");
}

export function testCommand(context: Context) {
  const command = new Command("test")
    .description("show what an event would result in; creates nothing")
    .argument("<uid>", TRIGGER)
    .argument("<file>", "JSON object of the event; `-` reads it from standard input")
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

function printTest(context: Context, tested: TestTriggerResponse): void {
  const { outcome, reason, event, missing_values: missing } = tested;
  context.show(tested, () =>
    printFields(context, [
      ["outcome", reason === undefined ? outcome : `${outcome} (${reason})`],
      ["detail", tested.detail],
      ["event", event.action === "" ? event.type : `${event.type}.${event.action}`],
      ["missing", missing?.join(", ")],
      ["prompt", tested.prompt],
    ]),
  );
}

async function readPayload(context: Context, file: string): Promise<Record<string, unknown>> {
  const text = await (file === "-" ? context.shell.readInput() : readFile(file, "utf8")).catch((error: unknown) => {
    throw usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const parsed = v.safeParse(Payload, text);
  if (!parsed.success) throw usage(`${file} is not a JSON object.`);
  return parsed.output;
}
