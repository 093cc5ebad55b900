import type { Budget } from "#shared/budgets/budget-store.ts";
import type { LimitedRun } from "#shared/budgets/payers.ts";
import { stepsLeft, tokensLeft } from "#shared/budgets/run-limits.ts";
import { RunyardError } from "#shared/errors.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { describeTimeout, LIMIT_REMEDY } from "#shared/records/time-limit.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { endAtLimit } from "#shared/runs/end-run.ts";

/** The share of a limit, in its parts, below which the agent is told what is left. */
const NEAR_END = 0.1;
/** Model responses and milliseconds of which the agent is told in any case. */
const LAST_STEPS = 3;
const LAST_MS = 120_000;
const MINUTE_MS = 60_000;

/**
 * Ends the run with `budget_exceeded` where one of its limits is reached, or one of an ancestor's that its calls draw on. Of calls at the
 * same time, those that began before the last response count as well.
 * @returns what is left, for the agent, once that is little
 */
export async function requireAllowance(
  head: ExecutingHead,
  limited: readonly LimitedRun[],
  ports: ChangePorts,
): Promise<string | undefined> {
  const reached = describeReached(head, limited, ports.now());
  if (reached === undefined) return describeLeft(head, limited, ports.now());
  await endAtLimit(head, reached, ports);
  throw new RunyardError("budget_exceeded", { detail: reached });
}

function describeReached(head: ExecutingHead, limited: readonly LimitedRun[], now: number): string | undefined {
  if (head.ends_by !== undefined && head.ends_by <= now) return describeTimeout(head);
  for (const { runId, account } of limited) {
    const whose = runId === head.run_id ? "the run" : `run ${runId}, on which this one draws,`;
    if ((stepsLeft(account) ?? 1) <= 0) {
      return `max_steps: ${whose} has used all of its ${account.max_steps} model responses. ${LIMIT_REMEDY}`;
    }
    if ((tokensLeft(account) ?? 1) <= 0) {
      return `max_total_tokens: ${whose} has used ${account.step_tokens} of its ${account.max_tokens} tokens. ${LIMIT_REMEDY}`;
    }
  }
  return undefined;
}

/** Describes what is left after this response, such as `2 model responses, 1200 tokens`. */
function describeLeft(head: ExecutingHead, limited: readonly LimitedRun[], now: number): string | undefined {
  const parts: string[] = [];
  const steps = findLeast(limited, stepsLeft, ({ max_steps }) => max_steps);
  // This response is one of them.
  if (steps !== undefined && steps.left - 1 <= Math.max(LAST_STEPS, steps.of * NEAR_END)) {
    parts.push(count(steps.left - 1, "model response"));
  }
  const tokens = findLeast(limited, tokensLeft, ({ max_tokens }) => max_tokens);
  if (tokens !== undefined && tokens.left <= tokens.of * NEAR_END) parts.push(count(tokens.left, "token"));
  const milliseconds = head.ends_by === undefined ? undefined : head.ends_by - now;
  const total = (head.time_limit ?? 0) * MINUTE_MS;
  if (milliseconds !== undefined && milliseconds <= Math.max(Math.min(LAST_MS, total / 2), total * NEAR_END)) {
    parts.push(count(Math.ceil(milliseconds / MINUTE_MS), "minute"));
  }
  return parts.length === 0 ? undefined : parts.join(", ");
}

function findLeast(
  limited: readonly LimitedRun[],
  leftOf: (account: Budget) => number | undefined,
  limitOf: (account: Budget) => number | undefined,
): { readonly left: number; readonly of: number } | undefined {
  const known = limited.flatMap(({ account }) => {
    const [left, of] = [leftOf(account), limitOf(account)];
    return left === undefined || of === undefined ? [] : [{ left, of }];
  });
  return known.toSorted((a, b) => a.left - b.left)[0];
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
