import { RunyardError } from "#shared/errors.ts";
import type { logLine } from "#shared/log/log.ts";
import { findProvider } from "#shared/models/providers.ts";
import { addUsage, noteUsage } from "#shared/records/budget-account.ts";
import { toUsd } from "#shared/records/money.ts";
import { type ExecutingHead, isExecutingHead } from "#shared/records/run-head.ts";
import { type ChangePorts, changeRun } from "#shared/runs/change-run.ts";
import { type Table, TableBusy } from "#shared/table/table.ts";
import type { OwnKey } from "./keys/own-key.ts";
import { inputTokens, type Usage } from "./usage.ts";

/** Events of a run beyond which its calls are no longer recorded one by one. The run's usage counts all of them. */
const MAX_SEQUENCE = 25_000;

interface EndedCall {
  readonly head: ExecutingHead;
  readonly model: { readonly id: string };
  /** The key of the team or the run that the call was made with. */
  readonly ownKey?: OwnKey | undefined;
  /** Milliseconds. */
  readonly startedAt: number;
}

interface CallResult {
  readonly usage: Usage;
  /** In billionths of a dollar; absent where the model has no known price. */
  readonly cost: number | undefined;
  /** True if the provider did not report the usage. */
  readonly isEstimated: boolean;
}

/**
 * Adds the call to the run's usage, together with a `model_called` event, and marks its head, so that readers of the run read its usage
 * too. A call that ends after its execution has no event, since the run may have continued without it.
 */
export async function recordCall(
  call: EndedCall,
  result: CallResult,
  ports: ChangePorts & { readonly table: Table; readonly log: typeof logLine },
): Promise<void> {
  const { head: first } = call;
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = result.usage;
  const tokens = { input, output, cache_read: cacheRead, cache_write: cacheWrite + cacheWriteLong };
  const used = {
    cost: result.cost ?? 0,
    tokens: inputTokens(result.usage) + output,
    of: {
      modelId: call.model.id,
      hasOwnKey: call.ownKey !== undefined,
      isCustom: findProvider(call.model.id)?.isCustom === true,
      tokens,
    },
  };
  const event = { type: "model_called", data: toEventData(call, result, ports.now()) } as const;
  const isRecorded = await changeRun(first, ports, (head) => {
    const isCurrent = isExecutingHead(head) && head.execution_id === first.execution_id;
    const hasEvent = isCurrent && head.next_sequence <= MAX_SEQUENCE;
    if (!hasEvent && head.b === true) return { result: false };
    const also = { usage: addUsage(first.run_id, used, first.lim) };
    return { change: { events: hasEvent ? [event] : [], set: { b: true }, also }, result: true };
  }).catch((error: unknown) => {
    // The call is paid for already; a run that changes too fast loses this event only.
    if (!(error instanceof RunyardError || error instanceof TableBusy)) throw error;
    ports.log("warn", "a model call was not added to the run's events", { run: first.run_id, error });
    return false;
  });
  if (!isRecorded) await noteUsage(first.run_id, used, ports.table, first.lim);
}

function toEventData({ model, startedAt }: EndedCall, { usage, cost, isEstimated }: CallResult, now: number) {
  const written = usage.cacheWrite + usage.cacheWriteLong;
  return {
    model_id: model.id,
    input_tokens: inputTokens(usage),
    output_tokens: usage.output,
    ...(usage.cacheRead === 0 ? {} : { cache_read_tokens: usage.cacheRead }),
    ...(written === 0 ? {} : { cache_write_tokens: written }),
    ...(cost === undefined ? {} : { cost_usd: toUsd(cost) }),
    ...(isEstimated ? { is_estimated: true } : {}),
    duration_ms: Math.max(0, now - startedAt),
  };
}
