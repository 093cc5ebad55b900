import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import {
  type RedeliverResponse,
  WEBHOOK_EVENT_TYPES,
  type WebhookEventType,
  type WebhookItem,
} from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { environmentUid, scheduleId } from "../names.ts";
import { pairs, runSource, SOURCE_TEXT, wholeNumber } from "../options.ts";
import { usage } from "../problem.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";

const WEBHOOK = "uid of the webhook";

/** `runyard webhooks …`: URLs that receive events of the team's runs. */
export function webhooksCommand(context: Context): CommandUnknownOpts {
  return new Command("webhooks")
    .description("manage webhooks: URLs that receive events of your team's runs")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(rotateSecretCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(deliveriesCommand(context))
    .addCommand(redeliverCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list your team's webhooks")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.webhooks.list(),
        [
          { name: "uid", of: ({ uid }) => uid },
          { name: "name", of: ({ name }) => name ?? "" },
          { name: "on", of: ({ enabled }) => enabled },
          { name: "url", of: ({ url }) => url },
        ],
        { all, none: "There are no webhooks." },
      );
    });
  return withExamples(command, "runyard webhooks list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show a webhook")
    .argument("<uid>", WEBHOOK)
    .action(async (uid) => printWebhook(context, await (await context.client()).webhooks.retrieve(uid)));
  return withExamples(command, "runyard webhooks get $uid");
}

function printWebhook(context: Context, webhook: WebhookItem & { readonly secret?: string }): void {
  context.show(webhook, () =>
    printFields(context, [
      ["uid", webhook.uid],
      ["name", webhook.name],
      ["url", webhook.url],
      ["on", webhook.enabled],
      ["format", webhook.format],
      ["events", webhook.event_types.join(", ")],
      ["filter", webhook.filter === undefined ? undefined : JSON.stringify(webhook.filter)],
      ["secret", webhook.secret],
      ["old secret until", context.timeText(webhook.previous_secret_expires_at)],
    ]),
  );
}

/** Parses event types, and rejects unknown ones. */
function eventTypes(text: string, earlier: readonly WebhookEventType[] = []): WebhookEventType[] {
  const type = WEBHOOK_EVENT_TYPES.find((one) => one === text);
  if (type === undefined) throw new InvalidArgumentError(`Allowed choices are ${WEBHOOK_EVENT_TYPES.join(", ")}.`);
  return [...earlier, type];
}

const FORMATS = ["json", "slack"] as const;

/** The options of a webhook, with the filters that select its runs. */
const commandWithWebhook = (name: string) =>
  new Command(name)
    .option("--name <name>", "a name for people")
    .option("--event <type>", "only events of this type, such as run_succeeded; repeatable (default: all)", eventTypes)
    .addOption(new Option("--format <format>", "what is sent: the event, or a message for Slack").choices(FORMATS))
    .option("--metadata <name=value>", "only runs with this metadata; repeatable", pairs)
    .option("--env <uid|name>", "only runs in this environment")
    .option("--schedule <id|name>", "only runs of this schedule")
    .option("--source <source>", SOURCE_TEXT, runSource);

type WebhookOptions = ReturnType<ReturnType<typeof commandWithWebhook>["opts"]>;

async function toMembers(context: Context, { name, format, event, metadata, env, schedule, source }: WebhookOptions) {
  const client = await context.client();
  const filter = defined({
    metadata,
    environment_id: env === undefined ? undefined : await environmentUid(client, env),
    schedule_id: schedule === undefined ? undefined : await scheduleId(client, schedule),
    source,
  });
  return defined({ name, format, event_types: event, filter: Object.keys(filter).length === 0 ? undefined : filter });
}

function createCommand(context: Context) {
  const command = commandWithWebhook("create")
    .description("send events of your team's runs to a URL; prints the signing secret, which is shown only once")
    .argument("<url>", "https URL on the internet")
    .action(async (url, options) => {
      const members = await toMembers(context, options);
      printWebhook(context, await (await context.client()).webhooks.create({ url, ...members }));
      if (!context.json) context.note(context.errStyle.dim("Save the secret now: it is shown only once."));
    });
  return withExamples(
    command,
    "runyard webhooks create https://hooks.example.com/runyard --event run_succeeded --event run_failed",
    "runyard webhooks create https://hooks.example.com/runyard --metadata deploy=yes",
  );
}

function updateCommand(context: Context) {
  const command = commandWithWebhook("update")
    .description("change a webhook; omitted options keep their values")
    .argument("<uid>", WEBHOOK)
    .option("--url <url>", "https URL on the internet")
    .option("--enable", "deliver events")
    .option("--disable", "deliver no events")
    .option("--all-events", "deliver events of all types")
    .option("--all-runs", "drop the earlier filter: deliver events of all runs of the team")
    .action(async (uid, { url, enable, disable, allEvents, allRuns, ...options }) => {
      if (enable === true && disable === true) throw usage("--enable and --disable exclude each other.");
      const client = await context.client();
      const { filter, ...members } = await toMembers(context, options);
      // The API replaces the filter as a whole.
      const earlier = filter === undefined || allRuns === true ? {} : (await client.webhooks.retrieve(uid)).filter;
      const body = {
        ...defined({ url, enabled: enable ?? (disable === true ? false : undefined) }),
        ...members,
        ...(allEvents === true ? { event_types: [] } : {}),
        ...(filter !== undefined || allRuns === true ? { filter: { ...earlier, ...filter } } : {}),
      };
      printWebhook(context, await client.webhooks.update(uid, body));
    });
  return withExamples(command, "runyard webhooks update $uid --disable", "runyard webhooks update $uid --all-events");
}

function rotateSecretCommand(context: Context) {
  const command = new Command("rotate-secret")
    .description("replace the signing secret; prints the new one once, and the old one signs as well for 24 hours")
    .argument("<uid>", WEBHOOK)
    .action(async (uid) => printWebhook(context, await (await context.client()).webhooks.rotateSecret(uid)));
  return withExamples(command, "runyard webhooks rotate-secret $uid");
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete a webhook with its signing secret")
    .argument("<uid>", WEBHOOK)
    .action(async (uid) => {
      await (await context.client()).webhooks.delete(uid);
      context.show({ deleted: uid }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard webhooks delete $uid");
}

function deliveriesCommand(context: Context) {
  const command = new Command("deliveries")
    .description("list the deliveries of a webhook, latest first")
    .argument("<uid>", WEBHOOK)
    .addOption(new Option("--state <state>", "only in this state").choices(["pending", "delivered", "failed"]))
    .option("--all", "list all; with --json, print one per line")
    .action(async (uid, { state, all }) => {
      const client = await context.client();
      await printList(
        context,
        client.webhooks.deliveries(uid, defined({ state })),
        [
          { name: "number", of: ({ sequence }) => sequence },
          { name: "state", of: (delivery) => delivery.state },
          { name: "event", of: ({ event_type }) => event_type },
          { name: "about", of: ({ run_id, trigger_uid, schedule_id }) => run_id ?? trigger_uid ?? schedule_id ?? "" },
          { name: "attempts", of: ({ attempts }) => attempts.length },
          {
            name: "latest",
            of: ({ attempts }) => attempts.at(-1)?.error ?? String(attempts.at(-1)?.status_code ?? ""),
          },
          { name: "next", of: ({ next_attempt_at }) => context.timeText(next_attempt_at) },
        ],
        { all, none: "There are no deliveries." },
      );
    });
  return withExamples(command, "runyard webhooks deliveries $uid --state failed");
}

function redeliverCommand(context: Context) {
  const command = new Command("redeliver")
    .description("send the deliveries from a number on again, within a minute")
    .argument("<uid>", WEBHOOK)
    .requiredOption("--from <number>", "number of the first delivery", wholeNumber(1, 999_999_999))
    .action(async (uid, { from }) => {
      const client = await context.client();
      let redelivered = 0;
      for (let next: number | undefined = from; next !== undefined; ) {
        const page: RedeliverResponse = await client.webhooks.redeliver(uid, { from_sequence: next });
        redelivered += page.redelivered;
        next = page.next_sequence;
      }
      context.show({ redelivered }, () => context.say(`${redelivered} deliveries are sent again`));
    });
  return withExamples(command, "runyard webhooks redeliver $uid --from 42");
}
