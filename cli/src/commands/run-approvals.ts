import { Command } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { followRun } from "../follow/follow.ts";
import { Problem } from "../problem.ts";
import { withExamples } from "./examples.ts";
import { interruptOption } from "./run.ts";
import { findLastEvent, OUTCOMES } from "./run-followups.ts";

/** `runyard runs approve`: lets a run carry out the call that waits for an approval. */
export const approveCommand = (context: Context) =>
  createDecisionCommand(context, {
    decision: "approve",
    done: "approved",
    description: "approve the call that a run waits for: exactly this call is carried out, once",
  });

/** `runyard runs deny`: refuses the call that waits for an approval. */
export const denyCommand = (context: Context) =>
  createDecisionCommand(context, {
    decision: "deny",
    done: "denied",
    description: "deny the call that a run waits for: the agent learns the reason and continues",
  });

interface DecisionOptions {
  /** The name of the command, and the member of the request. */
  readonly decision: "approve" | "deny";
  readonly done: string;
  readonly description: string;
}

function createDecisionCommand(context: Context, { decision, done, description }: DecisionOptions) {
  const command = new Command(decision)
    .description(description)
    .argument("<run>", "run id")
    .option("--approval <id>", "decide only this approval, as `runs get` shows it, and no later one")
    .option("--reason <text>", "why; the agent gets it with the decision, and the timeline shows it")
    .option("-f, --follow", "follow the run from this point")
    .option("--verbose", "with --follow: print the full output of commands")
    .addOption(interruptOption())
    .action(async (id, { approval: requestedId, reason, ...options }) => {
      const client = await context.client();
      const { approval, state } = await client.runs.retrieve(id);
      const approvalId = requestedId ?? approval?.approval_id;
      if (approvalId === undefined)
        throw new Problem(`The run ${id} is ${state} and waits for no approval.`, {
          remedy: "`runyard runs list --state BLOCKED` lists the runs that wait.",
        });
      if (!context.json && approvalId === approval?.approval_id) context.note(`${approval.tool} ${approval.arguments}`);
      const after = options.follow === true ? await findLastEvent(client, id) : undefined;
      const response = await client.runs.sendFollowup(id, defined({ [decision]: approvalId, message: reason }));
      if (options.follow === true) return followRun(context, client, id, { ...options, after });
      context.show(response, () => context.say(`${done}; ${OUTCOMES[response.outcome] ?? "sent"}`));
    });
  return withExamples(
    command,
    `runyard runs ${decision} $id`,
    `runyard runs ${decision} $id --approval approval-12 --reason "Reviewed with Ada" --follow`,
  );
}
