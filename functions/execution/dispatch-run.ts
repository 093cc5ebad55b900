import { worker } from "#shared/queue/worker.ts";
import { type DispatchPorts, dispatchRun as dispatch } from "#shared/runs/dispatch.ts";
import { liveDispatch } from "#shared/runs/live.ts";
import { RunMessage } from "#shared/runs/run-queue.ts";

/** SQS `runs`: takes a slot and starts the run's sandbox. */
export const dispatchRun = worker({
  message: RunMessage,
  async run(message, ports: DispatchPorts) {
    await dispatch(message.run_id, ports);
  },
});

export const handler = dispatchRun.lambda(liveDispatch);
