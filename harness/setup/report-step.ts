import type { ClientEvent } from "#shared/wire/event.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { Outbox } from "../reporting/outbox.ts";
import { formatError } from "../support/stop.ts";
import { toWellFormed } from "../support/text-limits.ts";

/** A part of the setup that takes longer is reported when it has started too. */
const REPORT_START_MS = 1_000;

type Payload = NonNullable<ClientEvent["payload"]>;

/** Further members of the events of a part of the setup. */
export interface StepMembers {
  /** Called when the part is reported while it runs. */
  readonly started?: () => Payload;
  readonly ended?: () => Payload;
}

/** What the timeline says about a part of the setup: the same from its start to its end, or more at its end. */
export type StepDetail<T> =
  | string
  | ((result: T) => string)
  | { readonly start: string; readonly end: (result: T) => string };

/** Runs a part of the setup and reports its duration and result in the timeline. */
export async function reportStep<T>(
  outbox: Outbox,
  name: ClientEvent["event_name"],
  detail: StepDetail<T>,
  work: () => Promise<T>,
  { started = () => ({}), ended = () => ({}) }: StepMembers = {},
): Promise<T> {
  const start = Date.now();
  const report = (isError: boolean, text: string) => {
    const finish = Date.now();
    outbox.event(name, {
      start_ts: toTimestamp(start),
      finish_ts: toTimestamp(finish),
      latency_ms: finish - start,
      is_error: isError,
      detail: toWellFormed(text),
      ...ended(),
    });
  };
  const isLong = setTimeout(() => {
    const text = typeof detail === "object" ? detail.start : typeof detail === "string" ? detail : undefined;
    const what = text === undefined ? {} : { detail: toWellFormed(text) };
    outbox.event("setup_started", { step: name, start_ts: toTimestamp(start), ...what, ...started() });
  }, REPORT_START_MS);
  try {
    const result = await work();
    const end = typeof detail === "object" ? detail.end : detail;
    report(false, typeof end === "string" ? end : end(result));
    return result;
  } catch (error) {
    report(true, formatError(error));
    throw error;
  } finally {
    clearTimeout(isLong);
  }
}
