import * as v from "valibot";
import type { TriggerEvent } from "#shared/wire/triggers/delivery.ts";

/** The members of a trigger that are expressions. */
export type ExpressionMember = "filter" | "thread_key";

/** An expression to check, or to evaluate with an event. */
export interface ExpressionTask {
  readonly member: ExpressionMember;
  readonly expression: string;
  readonly event?: TriggerEvent;
}

/** Why an expression is refused, and where. */
const Problem = v.object({ line: v.number(), column: v.number(), message: v.string() });
export type Problem = v.InferOutput<typeof Problem>;

/** What an expression yields, or why it yields nothing. */
export const Outcome = v.object({
  value: v.exactOptional(v.union([v.boolean(), v.string()])),
  error: v.exactOptional(v.string()),
  problem: v.exactOptional(Problem),
});
export type Outcome = v.InferOutput<typeof Outcome>;

/** What the worker tells: that it begins a task, with the microseconds of the processor's time that it has used, and the outcome. */
export const WorkerMessage = v.union([v.object({ began: v.number() }), v.object({ outcome: Outcome })]);
export type WorkerMessage = v.InferOutput<typeof WorkerMessage>;
