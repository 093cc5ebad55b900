import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { CreatedKey, KeyItem, ListKeysResponse, PagePromise } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { agentUid } from "../names.ts";
import { date, listScopes, parseNumber, SCOPE_TEXT, scopes, wholeNumber } from "../options.ts";
import { printList } from "../table.ts";
import { withExamples } from "./examples.ts";

const NAME = "name that describes what the key is for";

/** A command with the options of a new key. */
const createCommand = () =>
  new Command("create")
    .option("--expires <date>", "expiry date, such as 2027-01-01 (default: never)", date)
    .option("--scope <scope>", SCOPE_TEXT, scopes)
    .option("--max-budget <usd>", "most that its runs may cost in a calendar month", parseNumber)
    .option("--max-runs-per-day <count>", "most runs that it may create in a day", wholeNumber(1, 1_000_000));

type KeyOptions = ReturnType<ReturnType<typeof createCommand>["opts"]>;

const toBody = (name: string, { expires, scope, maxBudget, maxRunsPerDay }: KeyOptions) =>
  defined({
    name,
    expires_at: expires,
    scopes: scope,
    max_budget_usd: maxBudget,
    max_runs_per_day: maxRunsPerDay,
  });

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
        createCommand()
          .description("create a key; it is shown only once")
          .argument("<name>", NAME)
          .action(async (name, options) => {
            printCreated(context, await (await context.client()).keys.create(toBody(name, options)));
          }),
        "runyard keys create ci --scope runs:read --scope runs:write --max-budget 50 --max-runs-per-day 100",
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
        createCommand()
          .description("create a key for an agent; it is shown only once")
          .argument("<agent>", AGENT)
          .argument("<name>", NAME)
          .action(async (given, name, options) => {
            const client = await context.client();
            const body = toBody(name, options);
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
      { name: "created", of: ({ created_at }) => context.timeText(created_at) },
      { name: "expires", of: ({ expires_at }) => context.timeText(expires_at) },
      { name: "created by", of: ({ created_by }) => created_by?.display_name ?? created_by?.uid ?? "" },
      { name: "last used", of: ({ last_used_at }) => context.timeText(last_used_at) },
      { name: "scopes", of: (key) => listScopes(key.scopes) },
      { name: "budget", of: ({ max_budget_usd }) => max_budget_usd ?? "" },
      { name: "runs a day", of: ({ max_runs_per_day }) => max_runs_per_day ?? "" },
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
