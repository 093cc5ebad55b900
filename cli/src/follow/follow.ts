import { APIError, APIUserAbortError, type RunItem, type Runyard } from "../../../clients/typescript/src/index.ts";
import { describeChanges, listChanges } from "../changes/changes.ts";
import type { Context } from "../context.ts";
import { EXIT, toExitCode } from "../exit-code.ts";
import { durationText, stateText } from "../style.ts";
import { usageText } from "../usage.ts";
import { activityAfter } from "./activity.ts";
import { EventPrinter, waitText } from "./event-printer.ts";
import { StatusLine } from "./status-line.ts";

/** What happens to a run when the person or the CI job that follows it stops. */
export type OnInterrupt = "ask" | "cancel" | "leave";

export interface FollowOptions {
  readonly verbose?: boolean | undefined;
  /** @default "ask" on a terminal, else "leave" */
  readonly onInterrupt?: OnInterrupt | undefined;
  /**
   * The sequence number of the last event that is not shown.
   * @default 0
   */
  readonly after?: number | undefined;
}

/** Names a run that was just created, and follows it. */
export async function followCreated(
  context: Context,
  client: Runyard,
  runId: string,
  options: FollowOptions,
): Promise<void> {
  if (!context.json) context.say(`${context.style.bold("Run")} ${runId}`);
  await followRun(context, client, runId, options);
}

/** Follows a run to its end, shows what happens, and sets the exit code that its end stands for. */
export async function followRun(
  context: Context,
  client: Runyard,
  runId: string,
  options: FollowOptions,
): Promise<void> {
  const { out, outIsTerminal, columns } = context.shell;
  const showsStatus = outIsTerminal && !context.json && context.shell.env["TERM"] !== "dumb";
  const status = showsStatus ? new StatusLine({ out, columns }) : undefined;
  const printer = new EventPrinter({
    style: context.style,
    print: (line) => (status === undefined ? context.say(line) : status.above(() => context.say(line))),
    verbose: options.verbose === true,
    onShown: (event) => {
      const activity = activityAfter(event);
      if (activity !== undefined) status?.show(activity);
    },
  });
  let after = options.after ?? 0;
  /** Follows until the end, or until the first interrupt: then undefined. */
  const follow = async (): Promise<RunItem | undefined> => {
    const controller = new AbortController();
    const release = context.shell.onInterrupt(() => controller.abort());
    status?.start();
    try {
      return await client.runs.followUntilDone(runId, {
        after,
        signal: controller.signal,
        onEvent: (event) => {
          after = event.sequence;
          if (context.json) context.printJsonLine(event);
          else printer.print(event);
        },
        ...(!context.json && {
          onLive: (frame) => printer.printLive(frame),
          onWaiting: (position) =>
            status === undefined ? printer.printWaiting(position) : status.show(waitText(position)),
        }),
      });
    } catch (error) {
      if (controller.signal.aborted && error instanceof APIUserAbortError) return undefined;
      throw error;
    } finally {
      status?.stop();
      release();
    }
  };
  let run = await follow();
  if (run === undefined && (await shouldCancel(context, options))) {
    await cancelRun(client, runId, {});
    context.note("Cancelling; Ctrl-C again leaves without waiting.");
    run = await follow();
  }
  if (run === undefined) {
    context.note(`The run goes on. Follow it with: runyard runs follow ${runId}`);
    context.exitCode = EXIT.cancelled;
    return;
  }
  context.exitCode = toExitCode(run.state);
  if (context.json) context.printJsonLine(run);
  else await showEnd(context, client, run, printer);
}

async function shouldCancel(context: Context, options: FollowOptions): Promise<boolean> {
  const choice = options.onInterrupt ?? (context.shell.canAsk ? "ask" : "leave");
  if (choice !== "ask") return choice === "cancel";
  const response = await context.shell.ask("\nCancel the run too? [y/N] ");
  return /^y(es)?$/i.test(response?.trim() ?? "");
}

/**
 * Cancels a run. One that has ended already is no failure: its state is returned. A run that is being prepared cannot be
 * cancelled for some seconds, which the repeats wait out.
 */
export async function cancelRun(
  client: Runyard,
  runId: string,
  { force }: { force?: boolean },
): Promise<RunItem["state"] | undefined> {
  try {
    await client.runs.cancel(runId, force === true ? { force } : {}, { maxRetries: 15 });
    return undefined;
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== 400) throw error;
    const { state } = await client.runs.retrieve(runId);
    if (!["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"].includes(state)) throw error;
    return state;
  }
}

async function showEnd(context: Context, client: Runyard, run: RunItem, printer: EventPrinter): Promise<void> {
  const { style } = context;
  const { text } = await client.runs.response(run.run_id);
  const took = run.run_time === undefined ? "" : style.dim(` after ${durationText(run.run_time)}`);
  context.say();
  context.say(`${style.bold(stateText(style, run.state))}${took}  ${style.dim(run.run_id)}`);
  const message = run.status_message?.message.trim() ?? "";
  if (message !== "" && !text.trim().startsWith(message)) context.sayText(message);
  if (text.trim() !== "" && !printer.hasPrinted(text)) context.sayText(text.trimEnd());
  const usage = usageText(run.request_usage);
  if (usage !== undefined) context.say(style.dim(usage));
  for (const { git } of listChanges(run))
    context.say(style.dim(`${git.path}: ${describeChanges(git)}: runyard runs diff ${run.run_id}`));
  const files = run.artifacts?.length ?? 0;
  if (files > 0)
    context.say(
      style.dim(`${files === 1 ? "1 artifact" : `${files} artifacts`}: runyard runs artifacts ${run.run_id}`),
    );
  if (run.session_link !== undefined) context.say(style.dim(run.session_link));
  if (run.approval !== undefined)
    context.note(`Answer it with: runyard runs approve ${run.run_id}, or runyard runs deny ${run.run_id} --reason "…"`);
  else if (run.state === "BLOCKED") context.note(`Answer it with: runyard runs followup ${run.run_id} "…"`);
}
