import * as v from "valibot";
import { Envelope, SLICE_ENDED } from "#shared/wire/harness.ts";
import { createControlPlane } from "../control-plane/control-plane.ts";
import type { TurnOutcome } from "../engine/engine.ts";
import type { Host } from "../isolation/host.ts";
import { killTree } from "../isolation/processes.ts";
import { createRedactor } from "../redaction/redactor.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { createLog } from "../support/log.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { SliceEnd } from "../support/time-slice.ts";
import { converse, sendReply } from "./conversation.ts";
import { readOutputFormat } from "./output-format.ts";
import { type PreparedWorkspace, prepareWorkspace } from "./prepared-workspace.ts";
import { type ResolvedRun, resolveRun } from "./resolved-run.ts";
import { type SessionAgent, startAgent } from "./session-agent.ts";
import { finishRun, openChannel, type SessionChannel, type SessionContext } from "./session-context.ts";
import { type ExitCode, reportShutdown } from "./shutdown-report.ts";

/** The execution ran out of time between two steps; its work is saved, and another execution continues. */
const SLICED = "sliced";

/** Runs the execution that an envelope names. Aborting `stop` ends it early; see `Stop` for the reasons. */
export async function runSession(input: unknown, host: Promise<Host>, stop: AbortController): Promise<ExitCode> {
  const envelope = v.safeParse(Envelope, input);
  if (envelope.success) return await runExecution(createContext(envelope.output, host, stop));
  await (await host).close();
  throw new Error("standard input holds no envelope");
}

function createContext(envelope: Envelope, host: Promise<Host>, stop: AbortController): SessionContext {
  const redactor = createRedactor([envelope.key]);
  const log = createLog(redactor, { run_id: envelope.run_id, execution_id: envelope.execution_id });
  const plane = createControlPlane(envelope, randomUUID(), stop.signal);
  return { envelope, stop, redactor, log, plane, host };
}

async function runExecution(session: SessionContext): Promise<ExitCode> {
  const { envelope, stop, log, host } = session;
  let isOver = false;
  try {
    await reportOutcome(session, await runTurns(session));
    isOver = true;
    return 0;
  } catch (error) {
    const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
    stop.abort(reason);
    await killTree(undefined, envelope.execution_id);
    return await reportShutdown(session, reason);
  } finally {
    // Reading the environment of every process of the host takes milliseconds, and no command outlives its boundary.
    if (!isOver || !(await host).contained) await killTree(undefined, envelope.execution_id);
    await host.then(({ close }) => close()).catch((error: unknown) => log("warn", formatError(error)));
  }
}

/** Returns the outcome to report; undefined if it is reported already. */
async function runTurns(session: SessionContext): Promise<TurnOutcome | typeof SLICED | undefined> {
  const resolved = await resolveRun(session);
  const channel = openChannel(session, resolved.context);
  resolved.egress.watch((detail) => channel.outbox.event("network_blocked", { is_error: true, detail }));
  let agent: SessionAgent | undefined;
  let placed: ResolvedRun | undefined;
  let prepared: PreparedWorkspace | undefined;
  let tokens: { close(): void } | undefined;
  try {
    const run = await placeRun(session, resolved, channel);
    placed = run;
    tokens = await openTokens(session, run);
    prepared = await prepareWorkspace(session, run, channel);
    agent = await startAgent(session, run, channel, prepared);
    const format = await readOutputFormat(run.context, prepared.start);
    const conversing = converse(run.resolved.system_prompt, agent, channel, prepared, format);
    const { checkpoints } = prepared;
    const outcome = await conversing.catch((error: unknown) => saveAtSliceEnd(error, channel, checkpoints, agent));
    await prepared.skillReported;
    return outcome;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return await failSetup(error, channel);
  } finally {
    channel.followups.end();
    channel.live.end();
    await prepared?.background.close();
    await agent?.close().catch((error: unknown) => session.log("warn", session.redactor.text(formatError(error))));
    tokens?.close();
    await placed?.image?.close();
    await resolved.closeNetwork();
  }
}

/** Few environments have an image, so the others do not load what pulls it. */
async function placeRun(session: SessionContext, run: ResolvedRun, channel: SessionChannel): Promise<ResolvedRun> {
  if (run.context.docker_image === undefined) return run;
  const { enterImage } = await import("./run-image.ts");
  return await enterImage(session, run, channel);
}

/** Few environments name cloud providers, so the others do not load it. */
async function openTokens({ plane, redactor, log }: SessionContext, { context, workspace, sandbox }: ResolvedRun) {
  if (context.providers === undefined) return undefined;
  const { openProviderTokens } = await import("../identity/provider-tokens.ts");
  return await openProviderTokens(context.providers, {
    plane,
    redactor,
    log,
    host: workspace.paths,
    inside: sandbox.paths,
  });
}

async function saveAtSliceEnd(
  error: unknown,
  { outbox }: SessionChannel,
  checkpoints: PreparedWorkspace["checkpoints"],
  agent: SessionAgent | undefined,
): Promise<typeof SLICED> {
  if (!(error instanceof SliceEnd)) throw error;
  agent?.tools.reportBackground();
  await outbox.flush();
  // Files become artifacts when their turn ends; until then they are part of the workspace that is saved.
  await checkpoints.save({ always: true });
  return SLICED;
}

async function failSetup(error: SetupError, { outbox, followups }: SessionChannel): Promise<TurnOutcome> {
  sendReply(outbox, error.message);
  // Follow-ups get no response, but they are part of the conversation; unless they are stored, they would start the run
  // again.
  while ((await followups.takeNext()) !== undefined);
  return { success: false, summary: error.message, error_code: "environment_setup_failed" };
}

async function reportOutcome(session: SessionContext, outcome: TurnOutcome | typeof SLICED | undefined): Promise<void> {
  if (outcome === SLICED) {
    await session.plane.reportShutdown({ category: SLICE_ENDED, message: new SliceEnd().message });
    session.log("info", "slice ended");
  } else if (outcome !== undefined) {
    await finishRun(session, outcome);
  }
}
