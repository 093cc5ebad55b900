/** A thread that checks and evaluates expressions, one after the other, until it is terminated. */
import { parentPort } from "node:worker_threads";
import type { CelInput } from "@bufbuild/cel";
import { checkExpression, evaluate } from "./expression.ts";
import type { ExpressionTask, WorkerMessage } from "./task.ts";

/** A task as it arrives; the values of its event are those of JSON. */
type ReceivedTask = Omit<ExpressionTask, "event"> & { readonly event?: CelInput };

const tell = (message: WorkerMessage): void => parentPort?.postMessage(message);

parentPort?.on("message", ({ member, expression, event }: ReceivedTask) => {
  const { user, system } = process.threadCpuUsage();
  tell({ began: user + system });
  const problem = event === undefined ? checkExpression(member, expression) : undefined;
  const outcome = event === undefined ? {} : evaluate(member, expression, event);
  tell({ outcome: { ...outcome, ...(problem === undefined ? {} : { problem }) } });
});
