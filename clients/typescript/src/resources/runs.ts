import { Runs as Operations } from "../generated/resources.ts";
import type { RunAgentRequest, RunEvent, RunItem, RunState } from "../generated/types.ts";
import type { RequestOptions } from "../options.ts";

/** How a run is followed. `timeout` is for each poll, beside the time for which the API holds it. */
export interface FollowOptions extends RequestOptions {
  /**
   * The sequence number of the last event that is known already.
   * @default 0
   */
  readonly after?: number | undefined;
  /**
   * Seconds, 0 to 25, for which the API waits with its answer until there is an event.
   * @default 25
   */
  readonly wait?: number | undefined;
  /**
   * How often one poll is sent again: two minutes and more of a service that cannot be reached.
   * @default 30
   */
  readonly maxRetries?: number | undefined;
}

export interface FollowUntilDoneOptions extends FollowOptions {
  /** Called with each event, in order; the next one comes once its promise is fulfilled. */
  readonly onEvent?: ((event: RunEvent) => void | Promise<void>) | undefined;
}

const FOLLOW_RETRIES = 30;

const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]);

export class Runs extends Operations {
  /**
   * The events of a run, each once and in order, as they happen, until the run has ended. It goes on where it was after
   * connection errors.
   */
  async *events(
    runId: string,
    { after = 0, wait = 25, ...options }: FollowOptions = {},
  ): AsyncGenerator<RunEvent, void> {
    const { timeout = this.transport.timeout, maxRetries = FOLLOW_RETRIES } = options;
    const request = { ...options, maxRetries, timeout: timeout + wait * 1000 };
    for (let last = after; ; ) {
      const asked = Date.now();
      const { events, next, ended } = await this.listEvents(runId, { after: last, wait }, request);
      yield* events;
      if (ended) return;
      last = next;
      // An answer that is empty and did not wait would be asked for without a pause.
      if (events.length === 0 && Date.now() - asked < 1000) await this.transport.sleep(1000, options.signal);
    }
  }

  /**
   * Follows a run to its end and answers it. A run that FAILED is answered too, not thrown: its `state` and
   * `status_message` say what became of it. There is no limit of time but that of `signal`, such as
   * `AbortSignal.timeout(600_000)`.
   */
  async followUntilDone(
    runId: string,
    { onEvent, after = 0, ...options }: FollowUntilDoneOptions = {},
  ): Promise<RunItem> {
    let last = after;
    let before: number | undefined;
    while (true) {
      for await (const event of this.events(runId, { ...options, after: last })) {
        last = event.sequence;
        await onEvent?.(event);
      }
      const { wait: _, maxRetries = FOLLOW_RETRIES, ...request } = options;
      const run = await this.retrieve(runId, { ...request, maxRetries });
      // Where a follow-up woke it in between, more events come; where none do, the state is a newer service's.
      if (ENDED.has(run.state) || last === before) return run;
      before = last;
    }
  }

  /** Creates a run, follows it to its end and answers it; see `followUntilDone`. */
  async createAndWait(body: RunAgentRequest, options: FollowUntilDoneOptions = {}): Promise<RunItem> {
    const { onEvent: _, after: __, wait: ___, maxRetries, ...request } = options;
    const { run_id } = await this.create(body, maxRetries === undefined ? request : { ...request, maxRetries });
    return this.followUntilDone(run_id, options);
  }

  /** The run's raw transcript, JSON Lines, as an answer whose body is a stream. */
  async downloadTranscript(runId: string, options?: RequestOptions): Promise<Response> {
    const { download_url } = await this.transcript(runId, options);
    return this.transport.storage(download_url, {}, options);
  }
}
