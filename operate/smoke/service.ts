import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";

const Run = v.object({
  state: v.string(),
  status_message: v.nullish(v.object({ message: v.string() })),
  artifacts: v.optional(
    v.array(v.object({ data: v.object({ artifact_uid: v.string(), filename: v.optional(v.string()) }) })),
    [],
  ),
});
type Run = v.InferOutput<typeof Run>;
const ENDED = ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"];
const POLL_MS = 1_000;
/** A sandbox that was idle for weeks may take a minute to start, and two starts may be needed. */
const WAIT_MS = 300_000;

interface Reply {
  readonly status: number;
  readonly location: string | null;
  readonly body: unknown;
}

/** A deployment as its clients see it. */
export interface Service {
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Creates a run of shell commands, and returns its id. */
  create(commands: string, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Waits until the run has ended, or has the state. @throws after five minutes */
  wait(runId: string, state?: string): Promise<Run>;
}

/** The prompt of commands for the embedded test model. */
export const toPrompt = (commands: string): string => `\`\`\`sh\n${commands}\n\`\`\``;

export function connect(baseUrl: string, apiKey: string): Service {
  const call: Service["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: "manual",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
    return {
      status: response.status,
      location: response.headers.get("location"),
      body: parsed.success ? parsed.output : text,
    };
  };
  return {
    call,
    async create(commands, headers) {
      const body = { prompt: toPrompt(commands), config: { model_id: "local/runbook" } };
      const reply = await call("POST", "/agent/runs", body, headers);
      return v.parse(v.object({ run_id: v.string() }), expectStatus(reply, 200)).run_id;
    },
    async wait(runId, state) {
      for (const deadline = Date.now() + WAIT_MS; ; ) {
        const run = v.parse(Run, expectStatus(await call("GET", `/agent/runs/${runId}`), 200));
        if (run.state === state || ENDED.includes(run.state)) return run;
        if (Date.now() > deadline) throw new Error(`run ${runId} is still ${run.state}`);
        await pause(POLL_MS);
      }
    },
  };
}

/** The body of a reply. @throws where its status is another one */
export function expectStatus(reply: Reply, status: number): unknown {
  if (reply.status === status) return reply.body;
  throw new Error(`${reply.status} instead of ${status}: ${JSON.stringify(reply.body).slice(0, 500)}`);
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}
