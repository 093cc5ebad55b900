import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Milliseconds without an execution after which the garbage of a burst is collected. */
const IDLE_MS = 20_000;
/** Executions that leave enough garbage. */
const MIN_EXECUTIONS = 50;

/**
 * Returns memory to the system after a burst of executions. V8 collects garbage while a program allocates, so the heap of a server
 * that has become idle would stay as large as it was.
 */
export class IdleMemory {
  #executions = 0;
  #timer: NodeJS.Timeout | undefined;

  /** An execution has begun. */
  begin(): void {
    clearTimeout(this.#timer);
    this.#executions++;
  }

  /** No execution is left. */
  rest(): void {
    clearTimeout(this.#timer);
    if (this.#executions < MIN_EXECUTIONS) return;
    this.#timer = setTimeout(() => {
      this.#executions = 0;
      collectGarbage();
    }, IDLE_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") Reflect.apply(collect, undefined, [{ type: "major", execution: "async" }]);
}
