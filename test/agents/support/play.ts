import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import type { Envelope } from "#shared/wire/harness.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver } from "../../support/execution.ts";
import { createGateway, stubModelSettings } from "../../support/gateway.ts";
import type { Turn } from "../../support/model-shapes.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { ControlPlaneServer } from "./control-plane-server.ts";

const MAIN = fileURLToPath(new URL("../../../harness/main.ts", import.meta.url));

interface Execution {
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds until the sandbox ends. @default it does not */
  readonly lifetimeMs?: number;
}

/** A control plane with models, whose runs are executed by the real harness in processes of its own. */
export class Stage implements AsyncDisposable {
  readonly plane: TestControlPlane;
  readonly models: ModelStandIn;
  readonly server: ControlPlaneServer;
  log = "";

  private constructor(plane: TestControlPlane, models: ModelStandIn, server: ControlPlaneServer) {
    this.plane = plane;
    this.models = models;
    this.server = server;
  }

  static async make(): Promise<Stage> {
    stubModelSettings();
    const [plane, models] = await Promise.all([createTestControlPlane(), ModelStandIn.start()]);
    return new Stage(plane, models, await ControlPlaneServer.start(plane, createGateway(plane, models).serve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    vi.unstubAllEnvs();
    await Promise.all([this.server[Symbol.asyncDispose](), this.models[Symbol.asyncDispose]()]);
  }

  /** Creates a run and returns its id. */
  create(body: Record<string, unknown>): Promise<string> {
    return createRun(this.plane, body);
  }

  /** Executes the queued run to its end; each turn is the response to one model request. */
  async execute(turns: readonly Turn[], options: Execution = {}): Promise<void> {
    this.models.turns.push(...turns);
    const before = this.plane.started.length;
    await deliver(this.plane, "runs");
    const envelope = this.plane.started[before];
    if (envelope === undefined) throw new Error("no sandbox was started");
    await this.#run(envelope, options);
    await deliver(this.plane, "ends");
  }

  async #run(given: Envelope, { environment = {}, lifetimeMs }: Execution): Promise<void> {
    const envelope = lifetimeMs === undefined ? given : { ...given, deadline_at: Date.now() + lifetimeMs };
    const env = { PATH: process.env["PATH"] ?? "", ...environment };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ["pipe", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        this.log += chunk.toString();
      });
    }
    child.stdin.end(JSON.stringify(this.server.prepareEnvelope(envelope)));
    await once(child, "close");
  }

  /** The run as the API returns it. */
  async shown(runId: string) {
    return (await createClient(this.plane).get(`/agent/runs/${runId}`)).body;
  }

  /** All blocks of a run's conversation, with their roles. */
  async blocks(runId: string): Promise<Record<string, unknown>[]> {
    const { body } = await createClient(this.plane).get(`/agent/runs/${runId}/conversation`);
    const steps: { messages: { role: string; content: object[] }[] }[] = body.steps;
    return steps.flatMap(({ messages }) =>
      messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block }))),
    );
  }

  /** The raw transcript that GET /agent/runs/{runId}/transcript redirects to. */
  async transcript(runId: string): Promise<string> {
    const { headers } = await createClient(this.plane).get(`/agent/runs/${runId}/transcript`);
    return await this.plane.download(headers["location"] ?? "");
  }
}
