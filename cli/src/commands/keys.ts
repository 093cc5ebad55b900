import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { CreatedKey, KeyItem, ListKeysResponse, PagePromise } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { agentUid } from "../names.ts";
import { date } from "../options.ts";
import { printList, timeText } from "../table.ts";
import { withExamples } from "./examples.ts";

/** `runyard keys …`: the user's own API keys. */
export function keysCommand(context: Context): CommandUnknownOpts {
  return new Command("keys")
    .description("manage your own API keys")
    .addCommand(
      withExamples(
        new Command("list")
          .alias("ls")
          .description("list your keys, without their secrets")
          .option("--all", "list all; with --json, print one per line")
          .action(async ({ all }) => printKeys(context, (await context.client()).keys.list(), all)),
        "runyard keys list",
      ),
    )
    .addCommand(
      withExamples(
        new Command("create")
          .description("create a key; it is shown only once")
          .argument("<name>", "name that describes what the key is for")
          .option("--expires <date>", "expiry date, such as 2027-01-01 (default: never)", date)
          .action(async (name, { expires }) => {
            const body = defined({ name, expires_at: expires });
            printCreated(context, await (await context.client()).keys.create(body));
          }),
        "runyard keys create laptop --expires 2027-01-01",
      ),
    )
    .addCommand(
      withExamples(
        new Command("delete")
          .description("delete a key, effective immediately")
          .argument("<uid>", "uid of the key; `runyard keys list` shows it")
          .action(async (uid) => {
            await (await context.client()).keys.delete(uid);
            context.show({ deleted: uid }, () => context.say("deleted"));
          }),
        "runyard keys delete $uid",
      ),
    );
}

/** `runyard agents keys …`: the keys of a team agent. */
export function agentKeysCommand(context: Context): CommandUnknownOpts {
  const AGENT = "agent uid or name";
  return new Command("keys")
    .description("manage the keys of an agent")
    .addCommand(
      withExamples(
        new Command("list")
          .alias("ls")
          .description("list the keys of an agent, without their secrets")
          .argument("<agent>", AGENT)
          .option("--all", "list all; with --json, print one per line")
          .action(async (given, { all }) => {
            const client = await context.client();
            await printKeys(context, client.identities.keys.list(await agentUid(client, given)), all);
          }),
        "runyard agents keys list release-bot",
      ),
    )
    .addCommand(
      withExamples(
        new Command("create")
          .description("create a key for an agent; it is shown only once")
          .argument("<agent>", AGENT)
          .argument("<name>", "name that describes what the key is for")
          .option("--expires <date>", "expiry date, such as 2027-01-01 (default: never)", date)
          .action(async (given, name, { expires }) => {
            const client = await context.client();
            const body = defined({ name, expires_at: expires });
            printCreated(context, await client.identities.keys.create(await agentUid(client, given), body));
          }),
        "runyard agents keys create release-bot ci --json | jq -r .key",
      ),
    )
    .addCommand(
      withExamples(
        new Command("delete")
          .description("delete a key, effective immediately")
          .argument("<agent>", AGENT)
          .argument("<uid>", "uid of the key")
          .action(async (given, uid) => {
            const client = await context.client();
            await client.identities.keys.delete(await agentUid(client, given), uid);
            context.show({ deleted: uid }, () => context.say("deleted"));
          }),
        "runyard agents keys delete release-bot $uid",
      ),
    );
}

function printKeys(
  context: Context,
  keys: PagePromise<KeyItem, ListKeysResponse>,
  all: true | undefined,
): Promise<void> {
  return printList(
    context,
    keys,
    [
      { name: "uid", of: ({ uid }) => uid },
      { name: "ends in", of: ({ suffix }) => suffix },
      { name: "created", of: ({ created_at }) => timeText(created_at) },
      { name: "expires", of: ({ expires_at }) => timeText(expires_at) },
      { name: "created by", of: ({ created_by }) => created_by?.display_name ?? created_by?.uid ?? "" },
      { name: "last used", of: ({ last_used_at }) => timeText(last_used_at) },
      { name: "name", of: ({ name }) => name },
    ],
    { all, none: "There are no keys." },
  );
}

/** Prints only the key to standard output, so that it can be piped to a secret store. */
function printCreated(context: Context, created: CreatedKey): void {
  context.show(created, () => {
    context.say(created.key);
    context.note(context.errStyle.dim(`Save the key now: it is shown only once. Its uid is ${created.uid}.`));
  });
}
