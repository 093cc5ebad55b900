import { createHash } from "node:crypto";

/** The caller's position in its trace, as W3C Trace Context names it. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const NOTHING = /^0+$/;

/**
 * Parses the header `traceparent`; undefined where it is absent or not valid, which the standard says to ignore. A later version may
 * have more parts at its end.
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header?.trim() ?? "");
  const [, version = "ff", traceId = "", spanId = "", flags = "", more] = match ?? [];
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const formatTraceParent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

/** The trace of a run whose caller has none. */
export const deriveTraceId = (runId: string): string => runId.replaceAll("-", "");

/** The id of the span about these parts. */
export const deriveSpanId = (...parts: readonly (string | number)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

/** What identifies the first turn of a run, below which the spans of child runs are. A later turn is identified by its first event. */
export const FIRST_TURN = 1;

/** The span of a turn of a run. */
export const turnSpanId = (runId: string, turn: number): string => deriveSpanId(runId, "turn", turn);

/**
 * The header `traceparent` of the request for a run, or the position of its parent if that has one. That of a request from a sandbox is
 * ignored, so that no run adds to a foreign trace.
 */
export function findTraceParent(
  header: string | undefined,
  parent: { readonly runId: string; readonly traceparent?: string | undefined } | undefined,
  isFromRun: boolean,
): string | undefined {
  const own = isFromRun ? undefined : parseTraceParent(header);
  if (own !== undefined) return formatTraceParent(own);
  const inherited = parseTraceParent(parent?.traceparent);
  if (parent === undefined || inherited === undefined) return undefined;
  return formatTraceParent({ ...inherited, spanId: turnSpanId(parent.runId, FIRST_TURN) });
}
