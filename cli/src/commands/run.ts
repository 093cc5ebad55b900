import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { nameAttachments, uploadAttachments } from "../attachments.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { followCreated } from "../follow/follow.ts";
import { agentUid } from "../names.ts";
import { pairs, repeated } from "../options.ts";
import { usage } from "../problem.ts";
import { buildConfig } from "../run-config.ts";
import { commandWithConfig } from "./config-options.ts";
import { withExamples } from "./examples.ts";
import { showFindings } from "./run-findings.ts";

/** `runyard run`: creates a run, and follows it if requested. */
export function runCommand(context: Context): CommandUnknownOpts {
  const command = commandWithConfig("run")
    .description("create a run, and optionally follow it until it ends")
    .argument("[prompt]", "task for the agent; `-` reads it from standard input")
    .option("-f, --follow", "print events until the run ends; the exit code is its outcome")
    .option("--verbose", "with --follow: print the full output of commands")
    .addOption(interruptOption())
    .addOption(
      new Option(
        "--dry-run",
        "only check the request: print what to know, and exit with 1 if it would be refused",
      ).conflicts(["follow", "idempotencyKey"]),
    )
    .option("--title <text>", "title (default: the first line of the prompt)")
    .option("--agent <uid|name>", "team agent to run as")
    .option("--personal", "make the run visible only to you, not to your team")
    .option("--attach <file>", "file to attach to the run; repeatable", repeated)
    .option("--metadata <name=value>", "metadata to find the run by; repeatable", pairs)
    .option(
      "--interactive",
      "after each turn, keep the run and its sandbox for a follow-up, for ten minutes by default",
    )
    .option("--notify-url <url>", "https URL that is sent each end of the run, signed with the secret that is printed")
    .option("--conversation <id>", "conversation to continue")
    .option("--parent <run>", "parent of the run")
    .addOption(new Option("--mode <mode>", "how to work").choices(["normal", "plan", "orchestrate"]))
    .option(
      "--idempotency-key <key>",
      "return the existing run if a request with this key was sent within the last 24 hours",
    )
    .action(async (given, options) => {
      const prompt = given === "-" ? await context.shell.readInput() : given;
      const goesOn = options.skill ?? options.config ?? options.conversation;
      if ((prompt === undefined || prompt.trim() === "") && goesOn === undefined) {
        throw usage(
          "The prompt is missing.",
          'Pass it as `runyard run "…"`, or pass `-` and the prompt on standard input.',
        );
      }
      const client = await context.client();
      const { attach, idempotencyKey, dryRun = false } = options;
      const body = defined({
        prompt,
        title: options.title,
        config: await buildConfig(client, options),
        agent_identity_uid: options.agent === undefined ? undefined : await agentUid(client, options.agent),
        team: options.personal === true ? false : undefined,
        attachments:
          attach && (dryRun ? await nameAttachments(attach) : await uploadAttachments(client, attach, idempotencyKey)),
        metadata: options.metadata,
        interactive: options.interactive,
        notify_url: options.notifyUrl,
        conversation_id: options.conversation,
        parent_run_id: options.parent,
        mode: options.mode,
      });
      if (dryRun) return showFindings(context, await client.runs.dryRun(body));
      const created = await client.runs.create(body, { idempotencyKey });
      if (created.at_capacity === true)
        context.note("The team has reached its limit of concurrent runs: this run waits in the queue.");
      if (created.notify_secret !== undefined && (!context.json || options.follow === true))
        context.note(`Save the secret that signs what the URL receives: ${created.notify_secret}`);
      if (options.follow === true) return followCreated(context, client, created.run_id, options);
      context.show(created, () => {
        context.say(created.run_id);
        context.note(context.errStyle.dim(`${created.state}. Follow it with: runyard runs follow ${created.run_id}`));
      });
    });
  return withExamples(
    command,
    'runyard run "Fix the flaky test" --repo https://github.com/acme/shop --follow',
    'runyard run - --env backend --title "Nightly tests" < prompt.md',
    'runyard run "Fix the flaky test" --env backend --dry-run',
    "runyard run --skill acme/shop:release-notes --metadata ticket=SHOP-1412",
    'id=$(runyard run "Write the changelog" --json | jq -r .run_id)',
  );
}

/** What a signal does to the run that is followed. */
export function interruptOption() {
  return new Option(
    "--on-interrupt <what>",
    "what Ctrl-C and SIGTERM do to the run (default: ask a person, else leave it)",
  ).choices(["ask", "cancel", "leave"]);
}
