import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import * as v from "valibot";

const Recorder = v.object({
  label: v.string(),
  cases: v.record(
    v.string(),
    v.object({
      parent_id: v.nullish(v.string()),
      value: v.object({ method: v.string(), path: v.string() }),
    }),
  ),
  interactions: v.record(v.string(), v.object({ response: v.nullish(v.object({ status_code: v.number() })) })),
  checks: v.record(v.string(), v.array(v.object({ name: v.string() }))),
});
const Line = v.object({ ScenarioFinished: v.object({ phase: v.string(), recorder: v.partial(Recorder) }) });

export interface OperationReport {
  /** Examples of the fuzzing phase, without the probes that checks send. */
  examples: number;
  /** The number of requests, by the status of the response. */
  readonly statuses: Map<number, number>;
}

export interface Report {
  /** By `METHOD /path`. */
  readonly operations: ReadonlyMap<string, OperationReport>;
  /** Names of the checks that ran. */
  readonly checks: ReadonlySet<string>;
}

/** Reads the report of Schemathesis, which has one JSON event per line. */
export async function readReport(file: string): Promise<Report> {
  const operations = new Map<string, OperationReport>();
  const checks = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const parsed = v.safeParse(Line, JSON.parse(line));
    if (!parsed.success) continue;
    const { phase, recorder } = parsed.output.ScenarioFinished;
    for (const [id, { parent_id, value }] of Object.entries(recorder.cases ?? {})) {
      // A case that sends an operation the method of another one, which must be refused, counts for the former.
      const label = phase === "stateful" ? `${value.method} ${value.path}` : (recorder.label ?? "");
      const operation = operations.get(label) ?? { examples: 0, statuses: new Map() };
      operations.set(label, operation);
      const status = recorder.interactions?.[id]?.response?.status_code;
      if (status === undefined) continue;
      operation.statuses.set(status, (operation.statuses.get(status) ?? 0) + 1);
      if (phase === "fuzzing" && parent_id == null) operation.examples++;
    }
    for (const ran of Object.values(recorder.checks ?? {})) for (const { name } of ran) checks.add(name);
  }
  return { operations, checks };
}
