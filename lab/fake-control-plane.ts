import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { Message } from "../shared/wire/conversation.ts";
import type { ClientEvent } from "../shared/wire/event.ts";
import type { Interrupt } from "../shared/wire/executions/turn.ts";
import type {
  AttachedFile,
  Envelope,
  FinishTaskRequest,
  Followup,
  ResolvePromptResponse,
} from "../shared/wire/harness.ts";
import { FakePushes, issueToken } from "./fake-responses.ts";
import { REQUESTS } from "./harness-requests.ts";

export type RunContext = NonNullable<ResolvePromptResponse["context"]>;

export interface Call {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly raw: Buffer;
  readonly headers: IncomingMessage["headers"];
  readonly at: number;
}

export interface ResponseBody {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface RunGiven {
  readonly prompt: string;
  readonly systemPrompt?: string;
  readonly resumptionPrompt?: string;
  readonly context?: Partial<RunContext>;
}

/**
 * A control plane of one run, on its own port, for tests and attacks: it records all calls of the harness and responds by the protocol.
 */
export class FakeControlPlane implements AsyncDisposable {
  readonly calls: Call[] = [];
  readonly messages: Message[] = [];
  readonly events: ClientEvent[] = [];
  /** The start events of slow setup steps. */
  readonly started: ClientEvent[] = [];
  /** Uploaded bytes by artifact path. */
  readonly artifacts = new Map<string, Buffer>();
  readonly pushes = new FakePushes();
  readonly followups: Followup[] = [];
  readonly key = `ryr_${randomUUID().replaceAll("-", "")}Zz9Qq`;
  readonly runId = randomUUID();
  readonly executionId = randomUUID();
  storedFollowups = 0;
  /** The last commit, from which the next harness continues. */
  checkpoint:
    | { generation: string; files: { name: string; path: string }[]; messages: number; followups: number }
    | undefined;
  /** The files of the setup snapshot that the harness has made. */
  setupFiles: readonly { readonly name: string; readonly path: string }[] = [];
  cancelled = false;
  interrupt: Interrupt | undefined;
  /** Whether the run waits for a follow-up after each turn. */
  interactive = false;
  /** How often the run began to wait. */
  waits = 0;
  outcome: FinishTaskRequest | undefined;
  shutdown: unknown;
  uploadMethod: "PUT" | "POST" = "PUT";
  prompt: string;
  /** Base address of the model gateway; nothing listens there by default. */
  modelUrl: string | undefined;
  /** Time until the sandbox ends, in milliseconds. By default more than any test has, so that none runs out of it on a busy machine. */
  lifetimeMs = 3_600_000;
  /** Whether the sandbox may wait for follow-ups. */
  canWait = true;
  /** Milliseconds by which the response is delayed, by the end of the path. */
  readonly delays = new Map<string, number>();
  /** Responds to a call instead of the protocol; `undefined` leaves it to the protocol. */
  intercept: (call: Call) => ResponseBody | undefined = () => undefined;

  readonly #given: RunGiven;
  readonly #server = createServer((request, response) => {
    void this.#serve(request, response).catch((error: unknown) => {
      // A harness that is killed leaves requests behind.
      if (!request.destroyed) throw error;
    });
  });
  readonly #attachments: RunContext["attachments"] = [];
  readonly #files = new Map<string, Buffer>();
  #nextSequence: number;

  private constructor(given: RunGiven) {
    this.#given = given;
    this.prompt = given.prompt;
    this.#nextSequence = given.context?.next_sequence ?? 1;
  }

  static async start(given: RunGiven): Promise<FakeControlPlane> {
    const plane = new FakeControlPlane(given);
    plane.#server.listen(0, "127.0.0.1");
    await once(plane.#server, "listening");
    return plane;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the fake control plane does not listen");
    return address.port;
  }

  get envelope(): Envelope {
    const base = `http://127.0.0.1:${this.port}/api/v1`;
    return {
      version: 1,
      base_url: base,
      model_url: this.modelUrl ?? `${base}/model`,
      run_id: this.runId,
      execution_id: this.executionId,
      key: this.key,
      deadline_at: Date.now() + this.lifetimeMs,
      ...(this.canWait ? { waits: true } : {}),
    };
  }

  addFollowup(message: string, policy: Followup["policy"] = "enqueue", more: Partial<Followup> = {}): void {
    const number = this.followups.length + 1;
    this.followups.push({ number, message, policy, created_at: new Date().toISOString(), ...more });
  }

  /** Of the last committed snapshot. */
  savedFile(name: string): Buffer | undefined {
    return this.#files.get(this.checkpoint?.files.find((file) => file.name === name)?.path ?? "");
  }

  /** Gives the run an attachment. */
  attach(filename: string, content: string): void {
    this.#attachments.push(this.file(filename, content));
  }

  /** An attachment with this content; without content, one that cannot be downloaded. */
  file(filename: string, content?: string, attachment_id = filename): AttachedFile {
    const path = `/files/${encodeURIComponent(attachment_id)}`;
    if (content !== undefined) this.#files.set(path, Buffer.from(content));
    return { attachment_id, filename, download_url: `http://127.0.0.1:${this.port}${path}` };
  }

  /** Makes the run continue from this workspace archive. */
  attachSnapshot(packed: Buffer): void {
    const path = "/snapshot/given/workspace.tar.gz";
    this.#files.set(path, packed);
    this.checkpoint = { generation: "given", files: [{ name: "workspace.tar.gz", path }], messages: 0, followups: 0 };
  }

  callsTo(path: string): Call[] {
    return this.calls.filter((call) => call.path.endsWith(path));
  }

  /** Everything that the harness sent, as one text. */
  get everything(): string {
    return this.calls.map((call) => call.raw.toString("latin1")).join("\n");
  }

  /** What the commands printed, in order. */
  get outputs(): string[] {
    return this.results.map((output) => String(output["stdout"]));
  }

  get results(): Record<string, unknown>[] {
    return this.messages
      .flatMap((message) => message.content)
      .flatMap((block) => (block.type === "action_result" ? [Object(block.output)] : []));
  }

  get texts(): string[] {
    return this.messages
      .flatMap((message) => message.content)
      .flatMap((block) => (block.type === "text" ? [block.text] : []));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks);
    const isJson = request.headers["content-type"] === "application/json" && raw.length > 0;
    const path = request.url ?? "";
    const call = {
      path,
      raw,
      headers: request.headers,
      body: isJson ? JSON.parse(raw.toString()) : {},
      at: Date.now(),
    };
    this.calls.push(call);
    const { status, body, headers } = this.intercept(call) ?? this.#respond(call);
    const [, delay] = [...this.delays].find(([end]) => path.endsWith(end)) ?? [];
    if (delay !== undefined) await sleep(delay);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? {}));
  }

  #respond(call: Call): ResponseBody {
    if (call.path.startsWith("/snapshot/") && call.raw.length > 0) {
      this.#files.set(call.path, call.raw);
      return { status: call.headers.authorization === undefined ? 200 : 400 };
    }
    const file = this.#files.get(call.path);
    if (file !== undefined) return { status: 200, body: file };
    if (call.path.startsWith("/upload/")) return this.#upload(call);
    if (call.headers.authorization !== `Bearer ${this.key}`) return { status: 401 };
    const name = call.path.replace(/^\/api\/v1\/(harness-support\/|agent\/runs\/[^/]+\/)/, "");
    const schema = call.raw.length === 0 ? undefined : REQUESTS[name];
    const issue = schema === undefined ? undefined : v.safeParse(schema, call.body).issues?.[0];
    if (issue !== undefined) return { status: 400, body: { detail: `${v.getDotPath(issue)}: ${issue.message}` } };
    switch (name) {
      case "resolve-prompt":
        return { status: 200, body: this.#resolvePrompt() };
      case "client-events":
        // Whether the start of a setup step is reported depends on the speed of the machine.
        (call.body["event_name"] === "setup_started" ? this.started : this.events).push(Object(call.body));
        return { status: 200 };
      case "messages":
        return this.#store(call);
      case "heartbeat":
        return this.#heartbeat(call);
      case "report-artifact":
        return this.#artifact(call);
      case "push-branch":
        return { status: 200, body: this.pushes.respond(call.body, this.artifacts, this.port) };
      case "notify-user":
        return { status: 200 };
      case "identity-token":
        return { status: 200, body: issueToken(call.body) };
      case "upload-snapshot":
        return this.#snapshot(call);
      case "commit-snapshot":
        return this.#commit(call);
      case "finish-task":
        return this.#finish(call);
      case "report-shutdown":
        this.shutdown = call.body;
        return { status: 200 };
      default:
        return { status: 404 };
    }
  }

  #resolvePrompt(): ResolvePromptResponse {
    const { systemPrompt, resumptionPrompt, context } = this.#given;
    return {
      prompt: this.prompt,
      ...(systemPrompt === undefined ? {} : { system_prompt: systemPrompt }),
      ...(resumptionPrompt === undefined ? {} : { resumption_prompt: resumptionPrompt }),
      context: {
        run_id: this.runId,
        execution_id: this.executionId,
        conversation_id: randomUUID(),
        title: "A test",
        mode: "normal",
        attachments: this.#attachments,
        messages: [],
        next_sequence: 1,
        followups: this.followups.filter(({ number }) => number > this.storedFollowups),
        next_heartbeat_seconds: 1,
        finish_takes_messages: true,
        ...this.#restoreCheckpoint(),
        ...context,
        agent_config: { model_id: "local/runbook", ...context?.agent_config },
      },
    };
  }

  #restoreCheckpoint(): Partial<RunContext> {
    if (this.checkpoint === undefined) return {};
    const { generation, files, messages, followups } = this.checkpoint;
    this.messages.splice(messages);
    this.storedFollowups = followups;
    return {
      messages: [...this.messages],
      own_messages: messages,
      next_sequence: this.#nextSequence,
      followups: this.followups.filter(({ number }) => number > followups),
      checkpoint: {
        generation,
        files: files.map(({ name, path }) => ({
          filename: name,
          download_url: `http://127.0.0.1:${this.port}${path}`,
          mime_type: "application/gzip",
          size_bytes: this.#files.get(path)?.length ?? 0,
        })),
      },
    };
  }

  readonly #snapshots = new Map<string, { messages: number; followups: number; at: number }>();

  #snapshot({ body }: Call): ResponseBody {
    const generation = String(body["generation"]);
    const at = this.calls.length;
    this.#snapshots.set(generation, { messages: this.messages.length, followups: this.storedFollowups, at });
    const files: { filename: string }[] = Object(body["files"]);
    const uploads = files.map(({ filename }) => ({
      url: `http://127.0.0.1:${this.port}/snapshot/${at}/${filename}`,
      method: "PUT",
      headers: {},
    }));
    return { status: 200, body: { uploads } };
  }

  #commit({ body }: Call): ResponseBody {
    const generation = String(body["generation"]);
    const names: string[] = Object(body["files"]);
    const snapshot = this.#snapshots.get(generation);
    const files = names.map((name) => ({ name, path: `/snapshot/${snapshot?.at}/${name}` }));
    if (snapshot === undefined || files.some(({ path }) => !this.#files.has(path))) return { status: 409 };
    this.checkpoint = { generation, files, messages: snapshot.messages, followups: snapshot.followups };
    if (body["setup"] !== undefined) this.setupFiles = files;
    return { status: 200, body: { generation } };
  }

  #store({ body }: Call): ResponseBody {
    const first = Number(body["first_sequence"]);
    const messages: Message[] = Object(body["messages"]);
    if (first === this.#nextSequence) {
      this.messages.push(...messages);
      this.#nextSequence += messages.length;
    }
    return { status: 200, body: { next_sequence: this.#nextSequence } };
  }

  #finish(call: Call): ResponseBody {
    const { messages, first_sequence, followups_stored, interrupts_handled, waits, ...outcome } = call.body;
    if (messages !== undefined) this.#store(call);
    this.storedFollowups = Math.max(this.storedFollowups, Number(followups_stored ?? 0));
    const followups = this.followups.filter((followup) => followup.number > this.storedFollowups);
    if (followups_stored !== undefined && followups.length > 0) return { status: 200, body: { followups } };
    const { interrupt } = this;
    if (interrupt !== undefined && interrupt.number > Number(interrupts_handled ?? interrupt.number))
      return { status: 200, body: { interrupt } };
    if (waits === true && (this.interactive || outcome["interrupt"] !== undefined)) {
      this.waits++;
      return { status: 200, body: { waiting: true } };
    }
    this.outcome = Object(outcome);
    return { status: 200 };
  }

  #heartbeat({ body }: Call): ResponseBody {
    this.storedFollowups = Math.max(this.storedFollowups, Number(body["followups_stored"]));
    const followups = this.followups.filter((followup) => followup.number > this.storedFollowups);
    const { interrupt, cancelled } = this;
    return {
      status: 200,
      body: { followups, cancel: cancelled, next_heartbeat_seconds: 1, ...(interrupt && { interrupt }) },
    };
  }

  #artifact({ body }: Call): ResponseBody {
    const kind = String(body["artifact_type"]);
    const { filepath, sha256 } = Object(body["data"]);
    if (kind !== "FILE" && kind !== "SCREENSHOT") return { status: 200, body: { artifact_uid: `uid-${kind}` } };
    const path = kind === "FILE" ? String(filepath) : `screenshot-${sha256}`;
    const stored = this.artifacts.get(path);
    if (stored !== undefined && createHash("sha256").update(stored).digest("hex") === sha256)
      return { status: 200, body: { artifact_uid: `uid-${path}` } };
    const url = `http://127.0.0.1:${this.port}/upload/${encodeURIComponent(path)}`;
    const upload =
      this.uploadMethod === "PUT"
        ? { url, method: "PUT", headers: { "if-none-match": "*", "content-type": "text/plain" } }
        : {
            url,
            method: "POST",
            headers: null,
            fields: [
              { name: "policy", value: { kind: "static", value: "p" } },
              { name: "file", value: { kind: "content_data" } },
            ],
          };
    return { status: 200, body: { artifact_uid: `uid-${path}`, upload } };
  }

  #upload({ path, raw, headers }: Call): ResponseBody {
    if (headers.authorization !== undefined || headers["content-length"] === undefined) return { status: 400 };
    this.artifacts.set(decodeURIComponent(path.slice("/upload/".length)), raw);
    return { status: 200 };
  }
}
