import { Runs as Operations } from "../generated/resources.ts";
import type { RunAgentRequest, RunEvent, RunItem, RunState } from "../generated/types.ts";
import type { RequestOptions } from "../options.ts";

/** How to follow a run. `timeout` applies to each poll, in addition to `wait`. */
export interface FollowOptions extends RequestOptions {
  /**
   * The sequence number of the last known event.
   * @default 0
   */
  readonly after?: number | undefined;
  /**
   * Seconds, 0 to 25, for which the API waits for an event.
   * @default 25
   */
  readonly wait?: number | undefined;
  /**
   * The number of retries of one poll. The default covers more than two minutes of an unreachable service.
   * @default 30
   */
  readonly maxRetries?: number | undefined;
}

export interface FollowUntilDoneOptions extends FollowOptions {
  /** Called with each event, in order. The next event follows once the returned promise is fulfilled. */
  readonly onEvent?: ((event: RunEvent) => void | Promise<void>) | undefined;
}

const FOLLOW_RETRIES = 30;

const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]);

export class Runs extends Operations {
  /**
   * Iterates over the events of a run as they happen, in order and without duplicates, until the run has ended. Resumes
   * after connection errors.
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
      // An empty response without a wait would otherwise cause polling without pauses.
      if (events.length === 0 && Date.now() - asked < 1000) await this.transport.sleep(1000, options.signal);
    }
  }

  /**
   * Follows a run until it ends and returns it. A failed run is returned too, not thrown: see its `state` and
   * `status_message`. Pass a `signal` such as `AbortSignal.timeout(600_000)` to limit the time.
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
      // A follow-up may have restarted the run. Without new events, the state is unknown to this version.
      if (ENDED.has(run.state) || last === before) return run;
      before = last;
    }
  }

  /** Creates a run, follows it until it ends and returns it; see `followUntilDone`. */
  async createAndWait(body: RunAgentRequest, options: FollowUntilDoneOptions = {}): Promise<RunItem> {
    const { onEvent: _, after: __, wait: ___, maxRetries, ...request } = options;
    const { run_id } = await this.create(body, maxRetries === undefined ? request : { ...request, maxRetries });
    return this.followUntilDone(run_id, options);
  }

  /** Downloads the run's raw transcript, a JSON Lines file, as a streamed response. */
  async downloadTranscript(runId: string, options?: RequestOptions): Promise<Response> {
    const { download_url } = await this.transcript(runId, options);
    return this.transport.storage(download_url, {}, options);
  }
}
