import { isTerminal } from "#shared/records/run.ts";
import type { RunItem } from "#shared/wire/run.ts";

/** Characters of a prompt in the result of a tool. */
const PROMPT_LENGTH = 2_000;

/** A run as tools show it: what a model needs to decide what to do next. */
export function toToolRun(item: RunItem): Record<string, unknown> {
  const { request_usage: usage } = item;
  return {
    run_id: item.run_id,
    state: item.state,
    has_ended: isTerminal(item.state),
    waiting_for: item.waiting_for,
    created_at: item.created_at,
    updated_at: item.updated_at,
    finished_at: item.finished_at,
    source: item.source,
    parent_run_id: item.parent_run_id,
    conversation_id: item.conversation_id,
    session_link: item.session_link,
    pending_followups: item.pending_followups,
    model_id: item.agent_config?.model_id,
    environment_id: item.agent_config?.environment_id,
    cost_usd: usage?.tree?.cost_usd,
    artifacts: item.artifacts?.length,
    untrusted: {
      title: item.title,
      prompt: shorten(item.prompt, PROMPT_LENGTH),
      status_message: item.status_message?.message,
    },
  };
}

/** Cuts a text for a model, and says so. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).toWellFormed()}\n[${text.length - length} more characters]`;
}

/** What a model should do about a run in this state. */
export function describeNext({ run_id: id, state, waiting_for: waiting }: RunItem): string {
  if (state === "BLOCKED") {
    const what = waiting === undefined ? "needs input" : `waits for: ${waiting}`;
    return `Run ${id} is BLOCKED and ${what}. Read get_response, then answer with send_followup.`;
  }
  if (state === "SUCCEEDED")
    return `Run ${id} has SUCCEEDED. Read its answer with get_response and its files with list_artifacts.`;
  if (isTerminal(state))
    return `Run ${id} has ended as ${state}. status_message says why; send_followup continues its conversation.`;
  return `Run ${id} is ${state}. Call wait_for_run until it has ended.`;
}
