import { type ArtifactFile, planArtifactFiles } from "../artifact-files.ts";
import { APIUserAbortError, RunTimeoutError, RunyardError } from "../errors.ts";
import { Runs as Operations } from "../generated/resources.ts";
import type { LiveFrame, RunAgentRequest, RunEvent, RunItem, RunState } from "../generated/types.ts";
import type { RequestOptions } from "../options.ts";
import { type RunStreamItem, streamRun } from "../stream/run-stream.ts";
import { LONGEST_TIMER } from "../transport.ts";
import { Artifacts } from "./artifacts.ts";
import { describeFile, storeFile, type Upload } from "./attachments.ts";

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
   * The number of retries of one poll. The default covers about two minutes of an unreachable service.
   * @default 30
   */
  readonly maxRetries?: number | undefined;
}

export interface FollowUntilDoneOptions extends FollowOptions {
  /** Called with each event, in order. The next event follows once the returned promise is fulfilled. */
  readonly onEvent?: ((event: RunEvent) => void | Promise<void>) | undefined;
  /**
   * Called with each piece of the output that the run is producing. The event with the whole output has the same
   * `action_id` or `message_id`, and comes after all of its pieces.
   */
  readonly onLive?: ((frame: LiveFrame) => void | Promise<void>) | undefined;
  /** Called with the run's position in the queue for capacity, from 1, when it changes. Requires `onLive`. */
  readonly onWaiting?: ((position: number) => void) | undefined;
  /**
   * The maximum number of milliseconds to follow the run, including retries. Then a RunTimeoutError is thrown, and the
   * run continues.
   * @default no limit
   */
  readonly maxWait?: number | undefined;
}

/** The content of an artifact, and the file to save it to. */
export interface ArtifactDownload extends ArtifactFile {
  readonly response: Response;
}

/** How to stream a run. */
export interface StreamOptions extends FollowOptions {
  /**
   * Whether to include the output that the run is producing.
   * @default true
   */
  readonly live?: boolean | undefined;
  /** Called with the run's position in the queue for capacity, from 1, when it changes. Requires `live`. */
  readonly onWaiting?: ((position: number) => void) | undefined;
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
      const began = Date.now();
      const { events, next, ended } = await this.listEvents(runId, { after: last, wait }, request);
      yield* events;
      if (ended) return;
      last = next;
      // An empty response without a wait would otherwise cause polling without pauses.
      if (events.length === 0 && Date.now() - began < 1000) await this.transport.sleep(1000, options.signal);
    }
  }

  /**
   * Iterates over the events of a run as they happen, in order and without duplicates, and over the output that it is
   * producing, until the run has ended. Reconnects after errors. Uses server-sent events, or long polling where the
   * deployment cannot stream.
   *
   * ```ts
   * for await (const item of client.runs.stream(runId)) {
   *   if (item.kind === "live") process.stdout.write(item.frame.text);
   *   else console.log(item.event.type);
   * }
   * ```
   */
  stream(
    runId: string,
    { after = 0, wait = 25, live = true, onWaiting, ...options }: StreamOptions = {},
  ): AsyncGenerator<RunStreamItem, void> {
    const { maxRetries = FOLLOW_RETRIES, signal, headers } = options;
    const timeout = (options.timeout ?? this.transport.timeout) + wait * 1000;
    return streamRun(after, {
      maxRetries,
      timeout,
      signal,
      onWaiting,
      sleep: (ms) => this.transport.sleep(ms, signal),
      request: (last, liveAfter, signal) => {
        const query = {
          after: last,
          wait,
          ...(live && { live }),
          ...(liveAfter !== undefined && { live_after: liveAfter }),
        };
        const accept = { accept: "text/event-stream, application/json", "last-event-id": String(last) };
        const request = { ...options, maxRetries: 0, signal, timeout };
        return this.listEvents(runId, query, { ...request, headers: { ...headers, ...accept } }).asResponse();
      },
    });
  }

  /**
   * Follows a run until it ends and returns it. A failed run is returned too, not thrown: see its `state` and
   * `status_message`.
   * @throws RunTimeoutError if it has not ended within `maxWait`
   */
  async followUntilDone(runId: string, { maxWait, ...options }: FollowUntilDoneOptions = {}): Promise<RunItem> {
    if (maxWait === undefined) return this.#follow(runId, options);
    const limit = AbortSignal.timeout(Math.min(maxWait, LONGEST_TIMER));
    const { signal } = options;
    try {
      const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      return await this.#follow(runId, { ...options, signal: either });
    } catch (error) {
      const isLate = error instanceof APIUserAbortError && error.cause === limit.reason;
      throw isLate ? new RunTimeoutError(runId, maxWait) : error;
    }
  }

  async #follow(
    runId: string,
    { onEvent, onLive, onWaiting, after = 0, ...options }: Omit<FollowUntilDoneOptions, "maxWait">,
  ): Promise<RunItem> {
    let last = after;
    let before: number | undefined;
    while (true) {
      for await (const item of this.#items(runId, { ...options, after: last }, onLive && { onWaiting })) {
        if (item.kind === "event") last = item.event.sequence;
        await (item.kind === "event" ? onEvent?.(item.event) : onLive?.(item.frame));
      }
      const { maxRetries = FOLLOW_RETRIES } = options;
      const run = await this.retrieve(runId, { ...options, maxRetries });
      // A follow-up may have restarted the run. Without new events, the state is unknown to this version.
      if (ENDED.has(run.state) || last === before) return run;
      before = last;
    }
  }

  /** Creates a run, follows it until it ends and returns it; see `followUntilDone`. */
  async createAndWait(body: RunAgentRequest, options: FollowUntilDoneOptions = {}): Promise<RunItem> {
    const { run_id } = await this.create(body, options);
    return this.followUntilDone(run_id, options);
  }

  /**
   * Uploads a file of up to 100 MB for a follow-up to a run, and returns its attachment_id, for
   * `attachments: [{ attachment_id }]` of the follow-up.
   */
  async uploadAttachment(
    runId: string,
    { file_name, mime_type = "application/octet-stream", data }: Upload,
    options?: RequestOptions,
  ): Promise<string> {
    const blob = new Blob([data], { type: mime_type });
    const files = [{ filename: file_name, mime_type, ...(await describeFile(blob)) }];
    const { attachments } = await this.prepareAttachments(runId, { files }, options);
    const [prepared] = attachments;
    if (prepared === undefined) throw new RunyardError("The response has no attachment.");
    await storeFile(prepared.upload_target, blob, this.transport, options);
    return prepared.attachment_id;
  }

  async *#items(
    runId: string,
    options: FollowOptions,
    live: Pick<StreamOptions, "onWaiting"> | undefined,
  ): AsyncGenerator<RunStreamItem, void> {
    if (live !== undefined) yield* this.stream(runId, { ...options, ...live });
    else for await (const event of this.events(runId, options)) yield { kind: "event", event };
  }

  /**
   * Downloads the content of each artifact of a run as a streamed response, with a path to save it to. Artifacts without content, such
   * as pull requests, are left out.
   */
  async *downloadArtifacts(runId: string, options?: RequestOptions): AsyncGenerator<ArtifactDownload, void> {
    const { artifacts = [] } = await this.retrieve(runId, options);
    const downloads = new Artifacts(this.transport);
    for (const file of planArtifactFiles(artifacts)) {
      yield { ...file, response: await downloads.download(file.artifact_uid, options) };
    }
  }

  /**
   * Downloads the run's raw transcript, a JSON Lines file, as a streamed response. Waits for the transcript of a run
   * that has just ended: `maxRetries` retries, 30 by default, a second apart.
   */
  async downloadTranscript(runId: string, options: RequestOptions = {}): Promise<Response> {
    const { maxRetries = FOLLOW_RETRIES } = options;
    const { download_url } = await this.transcript(runId, { ...options, maxRetries });
    return this.transport.storage(download_url, {}, options);
  }
}
