import type { Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";

/** How long a person who presses Tab waits for the service, in milliseconds. */
const WAIT_MS = 2000;
/** How many values are fetched. */
const MOST = 100;

/** Words that no shell changes. */
const PLAIN = /^[\w.:@%+,/-]+$/;

/** The values of an argument or an option of this name: of each item, the names by preference. */
const LISTS: Readonly<Record<string, (client: Runyard) => AsyncIterable<readonly (string | undefined)[]>>> = {
  run: (client) => readEach(client.runs.list({ limit: MOST }), ({ run_id }) => [run_id]),
  environment: (client) => readEach(client.environments.list(), ({ uid, config }) => [config.name, uid]),
  agent: (client) => readEach(client.identities.list(), ({ uid, name }) => [name, uid]),
  schedule: (client) => readEach(client.schedules.list(), ({ id, name }) => [name, id]),
  secret: (client) => readEach(client.secrets.list(), ({ name }) => [name]),
  triggers: (client) => readEach(client.triggers.list(), ({ uid, name }) => [name, uid]),
  webhooks: (client) => readEach(client.webhooks.list(), ({ uid }) => [uid]),
  keys: (client) => readEach(client.keys.list(), ({ uid }) => [uid]),
  skill: (client) => readEach(client.agents.list(), ({ variants }) => [variants[0]?.id]),
  worker: (client) => readEach(client.workers.list(), ({ worker_host }) => [worker_host]),
  async *team(client) {
    yield* (await client.me.retrieve()).teams.map(({ uid, name }) => [name, uid]);
  },
  async *model(client) {
    yield* (await client.models.list()).models.map(({ id }) => [id]);
  },
};

/** Options that have the values of an argument of another name. */
const SAME: Readonly<Record<string, string>> = {
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
  const list = LISTS[SAME[name] ?? name];
  if (list === undefined) return [];
  const wordAfter = (option: string) => words[words.indexOf(option) + 1 || words.length];
  context.use({ team: wordAfter("--team"), baseUrl: wordAfter("--base-url") });
  const values: string[] = [];
  const collect = async () => {
    const client = (await context.client()).withOptions({ maxRetries: 0, timeout: WAIT_MS });
    for await (const names of list(client)) {
      values.push(
        ...names
          .filter((one) => one !== undefined)
          .filter((one) => PLAIN.test(one))
          .slice(0, 1),
      );
      if (values.length >= MOST) return;
    }
  };
  await collect().catch(() => undefined);
  return [...new Set(values)];
}

async function* readEach<Item, Value>(items: AsyncIterable<Item>, read: (item: Item) => Value): AsyncGenerator<Value> {
  for await (const item of items) yield read(item);
}
