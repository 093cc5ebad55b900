import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { CreateTriggerRequest, Runyard, TriggerItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { describeFailureLimit, pauseAfterOption } from "../failure-limit.ts";
import { agentUid } from "../names.ts";
import { pairs, repeated } from "../options.ts";
import { usage } from "../problem.ts";
import { buildConfig } from "../run-config.ts";
import { printFields, printList } from "../table.ts";
import { commandWithConfig } from "./config-options.ts";
import { withExamples } from "./examples.ts";
import { deliveriesCommand, deliveryCommand, redeliverCommand, replayCommand, testCommand } from "./trigger-events.ts";
import { createFromFile, exportCommand } from "./trigger-files.ts";
import { importCommand } from "./trigger-import.ts";

const TRIGGER = "uid of the trigger";
const BUSY = ["enqueue", "interrupt", "skip"] as const;
const MODES = ["normal", "plan", "orchestrate"] as const;

/** `runyard triggers …`: runs that events of other systems start. */
export function triggersCommand(context: Context): CommandUnknownOpts {
  return new Command("triggers")
    .description("manage triggers: runs that events of other systems start")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(importCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(stateCommand(context, "pause", "pause a trigger: its deliveries are recorded and start no run"))
    .addCommand(stateCommand(context, "resume", "resume a paused trigger"))
    .addCommand(rotateSecretCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(testCommand(context))
    .addCommand(deliveriesCommand(context))
    .addCommand(deliveryCommand(context))
    .addCommand(redeliverCommand(context))
    .addCommand(replayCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list your team's triggers and your personal ones")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.triggers.list(),
        [
          { name: "uid", of: ({ uid }) => uid },
          { name: "on", of: ({ enabled }) => enabled },
          { name: "kind", of: ({ kind, preset }) => preset ?? kind },
          { name: "name", of: ({ name }) => name },
        ],
        { all, none: "There are no triggers." },
      );
    });
  return withExamples(command, "runyard triggers list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show a trigger")
    .argument("<uid>", TRIGGER)
    .action(async (uid) => printTrigger(context, await (await context.client()).triggers.retrieve(uid)));
  return withExamples(command, "runyard triggers get $uid");
}

type ShownTrigger = TriggerItem & { readonly secret?: string; readonly previous_secret_expires_at?: string };

function printTrigger(context: Context, trigger: ShownTrigger): void {
  const { scheme = trigger.kind, header } = trigger.verification ?? {};
  context.show(trigger, () =>
    printFields(context, [
      ["uid", trigger.uid],
      ["name", trigger.name],
      ["kind", trigger.preset ?? trigger.kind],
      ["on", trigger.enabled],
      ["paused because", trigger.pause_reason],
      ["failing since", context.timeText(trigger.failing_since)],
      ["pauses after", describeFailureLimit(trigger.pause_after_failures)],
      ["send to", trigger.ingress_url],
      ["verification", header === undefined ? scheme : `${scheme} (${header})`],
      ["events", trigger.events?.join(", ") ?? "all"],
      ["filter", trigger.filter],
      ["thread key", trigger.thread_key],
      ["agent", trigger.agent_uid],
      ["environment", trigger.agent_config?.environment_id],
      ["model", trigger.agent_config?.model_id],
      ["mode", trigger.mode],
      ["threads", trigger.threads],
      ["busy", trigger.busy],
      ["follow-up prompt", trigger.followup_prompt],
      ["allowed bots", trigger.allow?.bots?.join(", ")],
      ["anyone", trigger.allow?.anyone],
      ["credential", trigger.credential],
      ["reply", trigger.reply?.to],
      ["runs", trigger.recent_runs?.map(({ run_id, state }) => `${run_id}  ${state}`).join("\n") || undefined],
      ["secret", trigger.secret],
      ["old secret until", context.timeText(trigger.previous_secret_expires_at)],
      ["prompt", trigger.prompt],
    ]),
  );
}

/** The options of a trigger that can be changed. Those of its configuration replace the configuration. */
const commandWithTrigger = (name: string) =>
  commandWithConfig(name)
    .option("--name <name>", "a name for people, and the title of the runs")
    .option("--prompt <template>", "template of the prompts; `-` reads it from standard input")
    .option("--followup-prompt <template>", "template of the follow-ups of a thread (default: {{ event.text }})")
    .addOption(
      new Option("--threads <threads>", "what later events of a thread do").choices(["continue", "separate"] as const),
    )
    .addOption(new Option("--busy <busy>", "what they do while the run is active").choices(BUSY))
    .option("--event <type>", "only events of this type, such as build.failed; repeatable (default: all)", repeated)
    .option(
      "--filter <expression>",
      "only events for which this is true, such as event.repository == 'o/r'; \"\": none",
    )
    .option("--thread-key <expression>", 'thread of an event of a webhook, such as event.payload.ticket; "": none')
    .option("--agent <uid|name>", "team agent to run as")
    .addOption(new Option("--mode <mode>", "how to work").choices(MODES))
    .option("--allow-bot <name>", "bot or application that may start runs; repeatable", repeated)
    .option("--allow-anyone", "let people start runs whose write access is not proved")
    .option("--credential <secret>", 'secret with a token, by which write access is looked up; "": none')
    .addOption(new Option("--reply <to>", "whether runs reply in the thread").choices(["thread", "none"] as const))
    .option("--metadata <name=value>", "metadata of its runs; repeatable", pairs)
    .addOption(pauseAfterOption());

type TriggerOptions = ReturnType<ReturnType<typeof commandWithTrigger>["opts"]>;

async function toMembers(client: Runyard, options: Omit<TriggerOptions, "prompt">) {
  const { name, event, agent, mode, metadata, allowBot, allowAnyone } = options;
  const allow = defined({ bots: allowBot, anyone: allowAnyone });
  return defined({
    name,
    events: event,
    filter: options.filter,
    thread_key: options.threadKey,
    agent_uid: agent === undefined ? undefined : await agentUid(client, agent),
    agent_config: await buildConfig(client, options),
    mode,
    metadata,
    followup_prompt: options.followupPrompt,
    threads: options.threads,
    busy: options.busy,
    pause_after_failures: options.pauseAfter,
    allow: Object.keys(allow).length === 0 ? undefined : allow,
    credential: options.credential,
    reply: options.reply === undefined ? undefined : { to: options.reply },
  });
}

const readPrompt = async (context: Context, given: string): Promise<string> =>
  given === "-" ? await context.shell.readInput() : given;

const KINDS = ["github", "gitlab", "slack", "linear", "jira", "sentry", "pagerduty", "webhook"] as const;
type Kind = (typeof KINDS)[number];

const toKind = (kind: Kind): Pick<CreateTriggerRequest, "kind" | "preset"> =>
  kind === "github" || kind === "gitlab" || kind === "slack" || kind === "webhook"
    ? { kind }
    : { kind: "webhook", preset: kind };

const SCHEMES = ["standard", "hmac", "bearer"] as const;

function createCommand(context: Context) {
  const command = commandWithTrigger("create")
    .description("create a trigger; prints its URL, and its secret, which is shown only once")
    .addOption(new Option("--kind <kind>", "system that sends the events").choices(KINDS).default("webhook" as const))
    .addOption(new Option("--scheme <scheme>", "how requests are verified (default: standard)").choices(SCHEMES))
    .option("--header <name>", "header with the signature; required by --scheme hmac")
    .option("--prefix <text>", "what precedes the signature, such as sha256=")
    .addOption(
      new Option("--encoding <encoding>", "encoding of the signature (default: hex)").choices(["hex", "base64"]),
    )
    .option("--timestamp-header <name>", "header with the time that is signed with the body")
    .option("--secret-stdin", "read a secret that the other system has made from standard input")
    .option("--paused", "create it paused")
    .option("--personal", "make the trigger and its runs visible only to you, not to your team")
    .option("--file <file>", "create the triggers of a file of `triggers export`; `-` reads standard input")
    .action(
      async ({
        kind,
        scheme,
        header,
        prefix,
        encoding,
        timestampHeader,
        secretStdin,
        paused,
        personal,
        file,
        ...options
      }) => {
        if (file !== undefined) return createFromFile(context, file);
        const { name, prompt } = options;
        const { preset } = toKind(kind);
        if (name === undefined) throw usage("--name is required.");
        if (prompt === undefined && preset === undefined) throw usage(`--prompt is required with --kind ${kind}.`);
        if (prompt === "-" && secretStdin === true) throw usage("--prompt - and --secret-stdin exclude each other.");
        const client = await context.client();
        const details = defined({ header, prefix, encoding, timestamp_header: timestampHeader });
        if (scheme === undefined && Object.keys(details).length > 0)
          throw usage("--header, --prefix, --encoding and --timestamp-header need --scheme.");
        const body: CreateTriggerRequest = {
          ...toKind(kind),
          name,
          ...(await toMembers(client, options)),
          ...defined({
            prompt: prompt === undefined ? undefined : await readPrompt(context, prompt),
            verification: scheme === undefined ? undefined : { scheme, ...details },
            secret: secretStdin === true ? (await context.shell.readInput()).trimEnd() : undefined,
            enabled: paused === true ? false : undefined,
            team: personal === true ? false : undefined,
          }),
        };
        printTrigger(context, await client.triggers.create(body));
        if (!context.json) context.note(context.errStyle.dim("Save the secret now: it is shown only once."));
      },
    );
  return withExamples(
    command,
    'runyard triggers create --name "failed builds" --event build.failed --prompt "Find out why build {{ event.payload.build }} failed."',
    "runyard triggers create --name alerts --kind sentry --secret-stdin < sentry.secret",
    "runyard triggers create --file triggers.json",
    "runyard triggers create --name builds --scheme hmac --header X-Signature --prompt - < build.md",
  );
}

function updateCommand(context: Context) {
  const command = commandWithTrigger("update")
    .description("change a trigger; omitted options keep their values")
    .argument("<uid>", TRIGGER)
    .option("--all-events", "start runs by events of all types")
    .option("--no-agent", "run as the trigger's creator")
    .action(async (uid, { allEvents, agent, prompt, ...options }) => {
      const client = await context.client();
      const body = {
        ...(await toMembers(client, { ...options, ...(typeof agent === "string" ? { agent } : {}) })),
        ...(prompt === undefined ? {} : { prompt: await readPrompt(context, prompt) }),
        ...(agent === false ? { agent_uid: "" } : {}),
        ...(allEvents === true ? { events: [] } : {}),
      };
      printTrigger(context, await client.triggers.update(uid, body));
    });
  return withExamples(command, "runyard triggers update $uid --event build.failed --event deploy");
}

function stateCommand(context: Context, verb: "pause" | "resume", description: string) {
  const command = new Command(verb)
    .description(description)
    .argument("<uid>", TRIGGER)
    .action(async (uid) => printTrigger(context, await (await context.client()).triggers[verb](uid)));
  return withExamples(command, `runyard triggers ${verb} $uid`);
}

function rotateSecretCommand(context: Context) {
  const command = new Command("rotate-secret")
    .description("replace the secret; prints the new one once, and the old one is valid as well for 24 hours")
    .argument("<uid>", TRIGGER)
    .option("--secret-stdin", "read a secret that the other system has made from standard input")
    .action(async (uid, { secretStdin }) => {
      const secret = secretStdin === true ? (await context.shell.readInput()).trimEnd() : undefined;
      printTrigger(context, await (await context.client()).triggers.rotateSecret(uid, defined({ secret })));
    });
  return withExamples(command, "runyard triggers rotate-secret $uid");
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete a trigger with its secret; its runs continue")
    .argument("<uid>", TRIGGER)
    .action(async (uid) => {
      await (await context.client()).triggers.delete(uid);
      context.show({ deleted: uid }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard triggers delete $uid");
}
