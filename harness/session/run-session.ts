import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as v from "valibot";
import type { Block, Message } from "#shared/wire/conversation.ts";
import { Envelope, type InjectedSecret, SLICE_ENDED } from "#shared/wire/harness.ts";
import { createCommandRunner } from "../commands/command-runner.ts";
import { createShell } from "../commands/shell.ts";
import { type ControlPlane, createControlPlane } from "../control-plane/control-plane.ts";
import type { AgentEngine, AgentTools, Engine, Turn, TurnOutcome } from "../engine/engine.ts";
import { markOf, type Start, startOf } from "../engine/resume.ts";
import type { Host } from "../isolation/host.ts";
import { killTree, markerOf } from "../isolation/processes.ts";
import { createRedactor, type Redactor } from "../redaction/redactor.ts";
import { type ArtifactCollector, createArtifactCollector } from "../reporting/artifact-collector.ts";
import { createOutbox, type Outbox } from "../reporting/outbox.ts";
import { createCheckpoints } from "../setup/checkpoints.ts";
import { prepare } from "../setup/setup.ts";
import type { Skill } from "../skills/skills.ts";
import { createLog, type Log } from "../support/log.ts";
import { Interrupted, messageOf, SetupError, Stop } from "../support/stop.ts";
import { cutBytes, wellFormed } from "../support/text-limits.ts";
import { throttle } from "../support/throttle.ts";
import { createSlice, SliceEnd } from "../support/time-slice.ts";
import { folderOf, thirdPartyAgent } from "../third-party/agents.ts";
import { createTools } from "../tools/agent-tools.ts";
import { secretsOfServers } from "../tools/remote/mcp-secrets.ts";
import { createFollowups, type Followups } from "./followups.ts";

/** What is left to do for whoever started the harness: nothing, or to report the loss of this execution. */
export type ExitCode = 0 | 1;

/** A summary becomes a run's status message, which has room for so many bytes. */
const SUMMARY_BYTES = 1_024;
const SKILL_NAME_BYTES = 256;
/** How long a turn goes on before what it has done is saved, between two of its steps. */
const SAVE_MS = 5 * 60_000;
/** Of what an agent says at once: a batch of messages holds 256 KB, and JSON may double a text. */
const SAID_BYTES = 120 * 1024;

/** Runs the execution that an envelope names. Aborting `stop` ends it early; see `Stop` for the reasons. */
export async function execute(input: unknown, host: Promise<Host>, stop: AbortController): Promise<ExitCode> {
  const envelope = v.safeParse(Envelope, input);
  if (envelope.success) return await runExecution(envelope.output, host, stop);
  await (await host).close();
  throw new Error("standard input holds no envelope");
}

async function runExecution(envelope: Envelope, host: Promise<Host>, stop: AbortController): Promise<ExitCode> {
  const redactor = createRedactor([envelope.key]);
  const log = createLog(redactor, { run_id: envelope.run_id, execution_id: envelope.execution_id });
  const plane = createControlPlane(envelope, randomUUID(), stop.signal);
  const home: SessionContext = { envelope, stop, redactor, log, plane, host };
  try {
    const outcome = await live(home);
    if (outcome === SLICED) {
      await plane.reportShutdown({ category: SLICE_ENDED, message: new SliceEnd().message });
      log("info", "slice ended");
      return 0;
    }
    const summary = cutBytes(wellFormed(redactor.text(outcome.summary)), SUMMARY_BYTES);
    await plane.finishTask({ ...outcome, summary });
    log("info", "finished", { success: outcome.success, summary });
    return 0;
  } catch (error) {
    const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
    stop.abort(reason);
    await killTree(undefined, envelope.execution_id);
    return await reportShutdown(home, reason);
  } finally {
    await killTree(undefined, envelope.execution_id);
    await host.then(({ close }) => close()).catch((error: unknown) => log("warn", messageOf(error)));
  }
}

interface SessionContext {
  readonly envelope: Envelope;
  readonly stop: AbortController;
  readonly redactor: Redactor;
  readonly log: Log;
  readonly plane: ControlPlane;
  readonly host: Promise<Host>;
}

/** The first call, and what it needs to be worth making. */
async function begin({ envelope, plane, host, log, redactor }: SessionContext) {
  // The engines are loaded while the prompt is on its way.
  const [resolved, { workspace, sandbox: sandboxOf }, { engineFor }] = await Promise.all([
    plane.resolvePrompt(),
    host,
    setImmediate().then(() => import("./load-engine.ts")),
  ]);
  const { context } = resolved;
  if (context === undefined) throw new Stop("unreachable", "the prompt came without its context");
  const secrets = valuesOf(context.secrets ?? []);
  for (const value of [...Object.values(secrets), ...secretsOfServers(context.mcp_servers)]) redactor.add(value);
  const thirdParty = thirdPartyAgent(context.agent_config.harness?.type);
  const programs = thirdParty === undefined ? undefined : folderOf(thirdParty);
  const marker = markerOf(envelope.execution_id);
  const brought = programs === undefined ? {} : { programs };
  const sandbox = sandboxOf({ runId: envelope.run_id, marker, secrets, ...brought });
  const modelId = context.agent_config.model_id;
  log("info", "resolved", { model_id: modelId, sandbox: sandbox.kind, network: sandbox.network });
  const loading = engineFor(modelId, thirdParty);
  // Whoever waits for it hears of its failure; the setup may end the execution before anybody does.
  loading.catch(() => {});
  return { resolved, context, secrets, workspace, sandbox, modelId, loading };
}

const valuesOf = (secrets: readonly InjectedSecret[]): Record<string, string> =>
  Object.fromEntries(secrets.flatMap((secret) => ("value" in secret ? [[secret.name, secret.value]] : [])));

/** The execution's time was over between two steps; all that was done is saved. */
const SLICED = "sliced";

async function live(home: SessionContext): Promise<TurnOutcome | typeof SLICED> {
  const { envelope, stop, redactor, plane, log } = home;
  const { resolved, context, secrets, workspace, sandbox, modelId, loading } = await begin(home);
  const conversation = [...context.messages];
  const onFailure = (error: unknown) => stop.abort(error);
  const outbox = recording(
    conversation,
    createOutbox({ plane, redactor, nextSequence: context.next_sequence, onFailure }),
  );
  const followups = createFollowups({ plane, outbox, redactor, context, stop });
  const slice = createSlice(envelope.deadline_at);
  const { deadlineAt } = slice;
  let made: Engine | undefined;
  try {
    const runner = createCommandRunner({
      sandbox,
      host: workspace.paths,
      executionId: envelope.execution_id,
      redactor,
      signal: stop.signal,
    });
    const { signal } = stop;
    const seen = sandbox.paths.workspace;
    const settle = async () => {
      await outbox.flush();
      await followups.settle();
    };
    const places = { host: workspace.paths, seen: sandbox.paths };
    const artifacts = createArtifactCollector({ plane, redactor, output: workspace.paths.output, signal });
    const checkpoints = createCheckpoints({ plane, runner, ...places, deadlineAt, signal, settle, artifacts });
    const restore = () => checkpoints.restore(context.checkpoint);
    const setup = await prepare({ context, workspace, outbox, redactor, runner, seen, deadlineAt, signal, restore });
    const [skill] = setup.skills;
    // Nobody waits for it: it is for those who look at the run.
    const noted = skill === undefined ? undefined : noteSkill(skill, plane, log);
    const start = startOf(context);
    const begunIn = start.from === "answer" ? undefined : start.workingDirectory;
    const workingDirectory = begunIn ?? join(seen, setup.workingDirectory);
    const turns = breakableTurns(followups);
    const without = context.agent_config.computer_use_enabled === true ? ", computer use is not supported" : "";
    const instructions = [...setup.skills.map((skill) => skill.body), resolved.prompt].filter(
      (text) => text.trim() !== "",
    );
    const shell = createShell({ runner, workingDirectory, deadlineAt });
    const makeEngine = await loading;
    made = await makeEngine({
      envelope,
      context,
      secrets,
      basePrompt: resolved.system_prompt,
      opening: instructions,
      plane,
      outbox,
      redactor,
      log,
      runner,
      shell,
      sandbox,
      workingDirectory,
      host: workspace.paths,
      clones: setup.clones,
      slice,
      signal,
      turn: turns.signal,
    });
    outbox.event("agent_started", { detail: `model ${modelId}, isolation: ${sandbox.kind}${without}` });
    let unsaved = "";
    const save = async () => {
      try {
        await checkpoints.save();
      } catch (error) {
        signal.throwIfAborted();
        const detail = redactor.text(messageOf(error));
        log("warn", "no checkpoint was saved", { detail });
        // Told once and not at each attempt: those who follow the run see that its files will not be there in a next execution.
        if (detail !== unsaved) outbox.event("checkpoint_saved", { is_error: true, detail: `not saved: ${detail}` });
        unsaved = detail;
      }
    };
    const onStep = throttle(save, SAVE_MS);
    const conversing = converse({
      start,
      instructions,
      systemPrompt: resolved.system_prompt,
      conversation,
      engine: made.engine,
      tools: createTools({ shell, outbox, redactor, slice, signal, turn: turns.signal, tools: made.tools, onStep }),
      artifacts,
      turns,
      outbox,
      followups,
      save,
    });
    const outcome = await conversing.catch(async (error: unknown): Promise<typeof SLICED> => {
      if (!(error instanceof SliceEnd)) throw error;
      await outbox.flush();
      // What becomes of files is decided when their turn is over: until then they are in the workspace that is saved.
      await checkpoints.save({ always: true });
      return SLICED;
    });
    await noted;
    return outcome;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(outbox, error.message);
    // Nobody will answer these, but they are part of the conversation; left out, they would start the run again.
    while ((await followups.takeNext()) !== undefined);
    return { success: false, summary: error.message, error_code: "environment_setup_failed" };
  } finally {
    followups.end();
    await made?.close().catch((error: unknown) => log("warn", redactor.text(messageOf(error))));
  }
}

async function noteSkill({ name, id, body }: Skill, plane: ControlPlane, log: Log): Promise<void> {
  try {
    await plane.noteSkill({ name: cutBytes(wellFormed(name), SKILL_NAME_BYTES), content: body, path: id });
  } catch (error) {
    log("warn", "the skill could not be told of", { detail: messageOf(error) });
  }
}

interface Conversation {
  readonly start: Start;
  /** What the run was asked at its beginning. */
  readonly instructions: readonly string[];
  readonly systemPrompt: string | undefined;
  readonly conversation: readonly Message[];
  readonly engine: AgentEngine;
  readonly tools: AgentTools;
  readonly artifacts: ArtifactCollector;
  readonly turns: BreakableTurns;
  readonly outbox: Outbox;
  readonly followups: Followups;
  /** Saves a checkpoint between two turns, and after the last. */
  readonly save: () => Promise<void>;
}

interface BreakableTurns {
  /** Aborted when the turn under way is broken off. */
  signal(): AbortSignal;
  /** Takes one turn, unless a follow-up breaks it off. */
  take(turn: () => Promise<TurnOutcome>): Promise<TurnOutcome>;
}

function breakableTurns(followups: Followups): BreakableTurns {
  let current = new AbortController();
  return {
    signal: () => current.signal,
    async take(turn) {
      const controller = new AbortController();
      current = controller;
      followups.watch((number) => controller.abort(new Interrupted(number)));
      try {
        return await turn();
      } catch (error) {
        if (error instanceof Interrupted) return { success: false, summary: error.message };
        throw error;
      } finally {
        followups.watch(undefined);
      }
    },
  };
}

/** Turn after turn until nobody has anything more to say; how the last one ended is how the run ends. */
async function converse(options: Conversation): Promise<TurnOutcome> {
  const { start, systemPrompt, conversation, engine, tools, artifacts, turns, outbox, followups, save } = options;
  let outcome = start.from === "answer" ? start.last : undefined;
  let instructions: readonly string[] | undefined = options.instructions;
  if (start.from === "followup") instructions = [start.message];
  if (start.from === "answer") instructions = await nextOf(followups);
  let commandsDone = start.from === "answer" ? 0 : start.commandsDone;
  while (instructions !== undefined) {
    const asked = { instructions, conversation, commandsDone };
    const turn: Turn = { ...asked, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
    commandsDone = 0;
    const ended = await turns.take(() => engine.takeTurn(turn, tools));
    // What a turn said comes before the files that it made.
    await outbox.flush();
    const { left } = await artifacts.collect();
    const note = left.length === 0 ? "" : ` Not kept as artifacts: ${left.slice(0, 5).join("; ")}.`;
    outcome = { ...ended, summary: ended.summary + note };
    say(outbox, outcome.summary, markOf(outcome));
    await save();
    instructions = await nextOf(followups);
  }
  return outcome ?? { success: true, summary: "There was nothing to do." };
}

async function nextOf(followups: Followups): Promise<readonly string[] | undefined> {
  const followup = await followups.takeNext();
  return followup === undefined ? undefined : [followup.message];
}

/** Keeps the conversation as the engine sees it in step with what is sent. */
function recording(conversation: Message[], outbox: Outbox): Outbox {
  return {
    ...outbox,
    message(message, onStored) {
      conversation.push(message);
      outbox.message(message, onStored);
    },
  };
}

const say = (outbox: Outbox, text: string, mark: readonly Block[] = []) =>
  outbox.message({
    role: "assistant",
    content: [{ type: "text", text: cutBytes(wellFormed(text), SAID_BYTES) }, ...mark],
  });

/** The last word of an execution that stops before its agent is done. */
async function reportShutdown({ plane, log, redactor }: SessionContext, reason: unknown): Promise<ExitCode> {
  const message = cutBytes(wellFormed(redactor.text(messageOf(reason))), 2_000);
  const kind = reason instanceof Stop ? reason.kind : "internal";
  log(["cancelled", "stale", "taken"].includes(kind) ? "info" : "error", "stopped", { kind, detail: message });
  if (kind === "internal" && reason instanceof Error) log("error", "stack", { stack: reason.stack });
  if (kind === "taken") return 0;
  try {
    // A fenced key may still be good for the one word that a cancelled run waits for.
    const isOurs = kind === "cancelled" || kind === "stale";
    await plane.reportShutdown(isOurs ? undefined : { category: kind, message });
    return isOurs || kind === "shutdown" ? 0 : 1;
  } catch (error) {
    const isFenced = error instanceof Stop && error.kind === "stale";
    if (!isFenced) log("error", "the shutdown could not be reported", { detail: messageOf(error) });
    return isFenced ? 0 : 1;
  }
}
