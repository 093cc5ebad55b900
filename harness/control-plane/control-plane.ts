import * as v from "valibot";
import type { Message } from "#shared/wire/conversation.ts";
import type { ClientEvent } from "#shared/wire/event.ts";
import { type LiveFrame, LiveResponse } from "#shared/wire/event.ts";
import { IdentityTokenResponse } from "#shared/wire/executions/identity-token.ts";
import { type PushBranchRequest, PushBranchResponse } from "#shared/wire/executions/push-branch.ts";
import { type ReportArtifactRequest, ReportArtifactResponse } from "#shared/wire/executions/report-artifact.ts";
import {
  type CommitSnapshotRequest,
  CommitSnapshotResponse,
  type UploadSnapshotRequest,
  UploadSnapshotResponse,
} from "#shared/wire/executions/snapshot.ts";
import {
  Empty,
  type Envelope,
  ExternalConversationResponse,
  type FinishTaskRequest,
  FinishTaskResponse,
  HeartbeatResponse,
  MessagesResponse,
  ResolvePromptResponse,
  type TranscriptRequest,
  UploadTarget,
} from "#shared/wire/harness.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";
import type { InjectedSecret } from "#shared/wire/secrets/injected-secret.ts";
import { parseJson } from "../support/parse-json.ts";
import { Stop } from "../support/stop.ts";
import { type HttpResponse, postJson, type RetryLimits, toRetryHints, withRetries } from "./http.ts";

/** A final refusal of the control plane. An execution that does not handle it stops. */
export class Refused extends Stop {
  /** One sentence for the caller. */
  readonly detail: string;

  constructor(message: string, detail: string) {
    super("unreachable", message);
    this.name = "Refused";
    this.detail = detail;
  }
}

/** The control plane as an execution sees it. Every call throws `Stop` when this execution cannot go on. */
export interface ControlPlane {
  resolvePrompt(): Promise<ResolvePromptResponse>;
  /** Renews tokens that a server has refused. Returns all secrets of the run. */
  renewSecrets(names: readonly string[]): Promise<readonly InjectedSecret[]>;
  /** Reports the skill of the run. */
  noteSkill(skill: { name: string; content: string; path: string }): Promise<void>;
  sendEvent(event: ClientEvent): Promise<void>;
  /** Returns the sequence number of the next message. */
  sendMessages(firstSequence: number, messages: readonly Message[]): Promise<number>;
  /**
   * @param takesAfter takes the first follow-up after this number
   * @param interruptsHandled the number of the last interrupt whose turn has ended, as stored messages show
   */
  heartbeat(followupsStored: number, takesAfter?: number, interruptsHandled?: number): Promise<HeartbeatResponse>;
  /** Sends live output once. @throws if it was not accepted */
  sendLive(frames: readonly LiveFrame[]): Promise<void>;
  /** Sets the function that is called when a response says whether live output is being read. */
  onWatched(listener: (isWatched: boolean) => void): void;
  /** Returns where to upload each file. */
  uploadSnapshot(snapshot: UploadSnapshotRequest): Promise<UploadSnapshotResponse>;
  commitSnapshot(snapshot: CommitSnapshotRequest): Promise<void>;
  reportArtifact(artifact: ReportArtifactRequest): Promise<ReportArtifactResponse>;
  /** Returns where to upload the objects of a push. After the upload, the same call pushes them. */
  pushBranch(push: PushBranchRequest): Promise<PushBranchResponse>;
  notifyUser(message: string): Promise<void>;
  /** Returns a token that proves the run's identity to `audience`. */
  createIdentityToken(audience: string): Promise<IdentityTokenResponse>;
  /** Declares that the conversation has a raw transcript in an agent's own format. */
  externalConversation(format: string): Promise<void>;
  /** Returns where to upload the raw transcript. After the upload, the same call attaches it to the conversation. */
  transcriptTarget(transcript: TranscriptRequest): Promise<UploadTarget>;
  /** Returns where to download the conversation's raw transcript; undefined if it has none. */
  transcriptUrl(): Promise<string | undefined>;
  /** Ends the run. Returns what keeps it from ending, if the request says which follow-ups the execution has. */
  finishTask(outcome: FinishTaskRequest): Promise<FinishTaskResponse>;
  /** Sends the final message of an execution that ends without finishing. Retries for a short time only. */
  reportShutdown(error?: { category: string; message: string }): Promise<void>;
}

const CALL_LIMITS: RetryLimits = { giveUpAfterMs: 60_000, attemptMs: 15_000 };
/** The service calls the code host meanwhile. */
const PUSH_LIMITS: RetryLimits = { giveUpAfterMs: 90_000, attemptMs: 40_000 };
/** The service calls the server that issues tokens meanwhile. */
const RENEWAL_MS = 30_000;
/** Live output that cannot be sent in time is not worth a retry. */
const LIVE_MS = 5_000;
const SHUTDOWN_LIMITS: RetryLimits = { giveUpAfterMs: 5_000, attemptMs: 3_000 };

export function createControlPlane(envelope: Envelope, instance: string, signal: AbortSignal): ControlPlane {
  const headers = {
    authorization: `Bearer ${envelope.key}`,
    "runyard-instance": instance,
    "runyard-protocol": String(HARNESS_PROTOCOL),
  };
  const call = async <S extends v.GenericSchema>(path: string, body: unknown, reply: S, limits: RetryLimits) => {
    const text = JSON.stringify(body);
    const attempt = (signal: AbortSignal) => postJson(`${envelope.base_url}${path}`, headers, text, signal);
    const result = await withRetries(path, attempt, toRetryHints, limits);
    if (result.status !== 200) throw toRefusal(path, result);
    const parsed = v.safeParse(reply, parseJson(result.text));
    if (!parsed.success) throw new Stop("unreachable", `${path} returned a response that this harness cannot parse`);
    return parsed.output;
  };
  const limits = { ...CALL_LIMITS, signal };
  const support = "/harness-support";
  const execution = { execution_id: envelope.execution_id };
  let noteWatched: (isWatched: boolean) => void = () => {};
  const note = <T extends { readonly watched?: boolean }>(reply: T): T => {
    noteWatched(reply.watched === true);
    return reply;
  };

  return {
    resolvePrompt: () => call(`${support}/resolve-prompt`, {}, ResolvePromptResponse, limits),
    async renewSecrets(names) {
      const once = { ...limits, giveUpAfterMs: RENEWAL_MS, attemptMs: RENEWAL_MS };
      const body = { refused_secrets: [...names] };
      return (await call(`${support}/resolve-prompt`, body, ResolvePromptResponse, once)).context?.secrets ?? [];
    },
    async noteSkill(skill) {
      await call(`${support}/resolve-prompt`, { skill }, ResolvePromptResponse, limits);
    },
    async sendEvent(event) {
      await call(`/agent/runs/${envelope.run_id}/client-events`, event, Empty, limits);
    },
    async sendMessages(firstSequence, messages) {
      const body = { ...execution, first_sequence: firstSequence, messages };
      return note(await call(`${support}/messages`, body, MessagesResponse, limits)).next_sequence;
    },
    async heartbeat(stored, takesAfter, handled = 0) {
      const takes = takesAfter === undefined ? {} : { takes_after: takesAfter };
      const interrupts = handled === 0 ? {} : { interrupts_handled: handled };
      const body = { ...execution, followups_stored: stored, ...takes, ...interrupts };
      return note(await call(`${support}/heartbeat`, body, HeartbeatResponse, limits));
    },
    async sendLive(frames) {
      const once = { giveUpAfterMs: 0, attemptMs: LIVE_MS, signal };
      try {
        note(await call(`${support}/live`, { ...execution, frames }, LiveResponse, once));
      } catch (error) {
        noteWatched(false);
        throw error;
      }
    },
    onWatched(listener) {
      noteWatched = listener;
    },
    uploadSnapshot: (snapshot) => call(`${support}/upload-snapshot`, snapshot, UploadSnapshotResponse, limits),
    async commitSnapshot(snapshot) {
      await call(`${support}/commit-snapshot`, snapshot, CommitSnapshotResponse, limits);
    },
    reportArtifact: (artifact) => call(`${support}/report-artifact`, artifact, ReportArtifactResponse, limits),
    pushBranch: (push) => call(`${support}/push-branch`, push, PushBranchResponse, { ...PUSH_LIMITS, signal }),
    async notifyUser(message) {
      await call(`${support}/notify-user`, { message }, Empty, limits);
    },
    createIdentityToken: (audience) => call(`${support}/identity-token`, { audience }, IdentityTokenResponse, limits),
    async externalConversation(format) {
      await call(`${support}/external-conversation`, { format }, ExternalConversationResponse, limits);
    },
    transcriptTarget: (transcript) => call(`${support}/transcript`, transcript, UploadTarget, limits),
    transcriptUrl: () => findTranscriptUrl(envelope.base_url, `${support}/transcript`, headers, limits),
    finishTask: (outcome) => call(`${support}/finish-task`, outcome, FinishTaskResponse, limits),
    async reportShutdown(error) {
      await call(`${support}/report-shutdown`, error === undefined ? {} : { error }, Empty, SHUTDOWN_LIMITS);
    },
  };
}

async function findTranscriptUrl(
  baseUrl: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  limits: RetryLimits,
): Promise<string | undefined> {
  // Redirects are not followed: the target is storage, which must not receive the key.
  const attempt = (signal: AbortSignal) => fetch(`${baseUrl}${path}`, { headers, redirect: "manual", signal });
  const readFetched = (response: Response) => ({
    status: response.status,
    header: (name: string) => response.headers.get(name) ?? undefined,
  });
  const response = await withRetries(path, attempt, readFetched, limits);
  const text = await response.text();
  if (response.status === 302) return response.headers.get("location") ?? undefined;
  if (response.status === 404 || response.status === 400) return undefined;
  throw toRefusal(path, { status: response.status, headers: {}, text });
}

/** 401 means that the key is no longer valid. At the first call, 403 and 409 mean that another harness has the execution. */
function toRefusal(path: string, { status, text }: HttpResponse): Stop {
  const isFirstCall = path.endsWith("/resolve-prompt");
  const isTaken = isFirstCall && [401, 403, 409].includes(status);
  const kind = isTaken ? "taken" : status === 401 ? "stale" : "unreachable";
  const summary = `${path} returned ${status} ${text.slice(0, 500)}`;
  return kind === "unreachable" && status < 500
    ? new Refused(summary, parseDetail(text) ?? summary)
    : new Stop(kind, summary);
}

function parseDetail(text: string): string | undefined {
  const problem = v.safeParse(v.object({ detail: v.string() }), parseJson(text));
  return problem.success ? problem.output.detail : undefined;
}
