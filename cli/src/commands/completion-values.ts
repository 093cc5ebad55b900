import type { Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { listAgents, listEnvironments, listSchedules, listTeams, type Named } from "../names.ts";

/** How long a person who presses Tab waits for the service, in milliseconds. */
const WAIT_MS = 2000;
const MAX_VALUES = 100;

/** Words that a shell does not have to quote. */
const PLAIN = /^[\w.:@%+,/-]+$/;

/** What a command takes for an item, the preferred form first. */
type Forms = readonly (string | undefined)[];

/** Lists the values of an argument or an option, by its name. An argument `uid` goes by the name of its command group. */
const LISTS: Readonly<Record<string, (client: Runyard) => AsyncIterable<Forms>>> = {
  run: (client) => readEach(client.runs.list({ limit: MAX_VALUES }), ({ run_id }) => [run_id]),
  environment: (client) => readEach(listEnvironments(client), toForms),
  agent: (client) => readEach(listAgents(client), toForms),
  schedule: (client) => readEach(listSchedules(client), toForms),
  team: (client) => readEach(listTeams(client), toForms),
  secret: (client) => readEach(client.secrets.list(), ({ name }) => [name]),
  triggers: (client) => readEach(client.triggers.list(), ({ uid }) => [uid]),
  webhooks: (client) => readEach(client.webhooks.list(), ({ uid }) => [uid]),
  keys: (client) => readEach(client.keys.list(), ({ uid }) => [uid]),
  skill: (client) => readEach(client.agents.list(), ({ variants }) => [variants[0]?.id]),
  worker: (client) => readEach(client.workers.list(), ({ worker_host }) => [worker_host]),
  async *model(client) {
    yield* (await client.models.list()).models.map(({ id }) => [id]);
  },
};

const toForms = ({ uid, name }: Named): Forms => [name, uid];

/** Options that have the values of an argument of another name. */
const ALIASES: Readonly<Record<string, string>> = {
  env: "environment",
  parent: "run",
  trigger: "triggers",
  fallbackModel: "model",
};

/**
 * Asks the service for the values of an argument or an option. Returns none where it does not know any, where no service is
 * configured, and where it does not answer in time: a completion prints no errors.
 *
 * @param words the command line so far, whose --team and --base-url count
 */
export async function listValues(context: Context, name: string, words: readonly string[]): Promise<string[]> {
  const list = LISTS[ALIASES[name] ?? name];
  if (list === undefined) return [];
  const wordAfter = (option: string) => words[words.indexOf(option) + 1 || words.length];
  context.use({ team: wordAfter("--team"), baseUrl: wordAfter("--base-url") });
  const values = new Set<string>();
  const collect = async () => {
    const client = (await context.client()).withOptions({ maxRetries: 0, timeout: WAIT_MS });
    for await (const forms of list(client)) {
      const value = forms.find((form) => form !== undefined && PLAIN.test(form));
      if (value !== undefined) values.add(value);
      if (values.size >= MAX_VALUES) return;
    }
  };
  await collect().catch(() => undefined);
  return [...values];
}

async function* readEach<Item, Value>(items: AsyncIterable<Item>, read: (item: Item) => Value): AsyncGenerator<Value> {
  for await (const item of items) yield read(item);
}
