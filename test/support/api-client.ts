/** Where a running service is, and a key for it. */
export interface ServiceAddress {
  /** It ends in /api/v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape.
  readonly body: any;
}

const TERMINAL = ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"];
const POLL_MS = 100;

/** Repeats a request that an overloaded service has refused, as clients do. */
async function fetchUnlessBusy(url: string, options: RequestInit): Promise<Response> {
  while (true) {
    const response = await fetch(url, options);
    if (response.status !== 503 || response.headers.get("x-should-retry") !== "true") return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 2 * POLL_MS));
  }
}

/** Calls a running service over HTTP, as any client does. */
export function client({ baseUrl, apiKey }: ServiceAddress) {
  async function call(
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetchUnlessBusy(`${baseUrl}${target}`, {
      method,
      redirect: "manual",
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  }

  /** Creates a run and returns its id. */
  const create = async (prompt: string, more: Record<string, unknown> = {}): Promise<string> => {
    const reply = await call("POST", "/agent/runs", { prompt, ...more });
    if (reply.status !== 200) throw new Error(`create: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.run_id;
  };

  /** Waits until the run is as wanted, and returns it. */
  async function until(runId: string, wanted: (run: Reply["body"]) => boolean, seconds = 120): Promise<Reply["body"]> {
    const deadline = Date.now() + seconds * 1000;
    while (true) {
      const { body } = await call("GET", `/agent/runs/${runId}`);
      if (wanted(body)) return body;
      if (Date.now() > deadline) throw new Error(`run ${runId} is still ${body.state} after ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  const ended = (runId: string, seconds = 120) => until(runId, ({ state }) => TERMINAL.includes(state), seconds);

  /** The text of every command's output in the run, in order. */
  async function outputs(runId: string): Promise<string[]> {
    const { body } = await call("GET", `/agent/runs/${runId}/conversation`);
    return body.steps
      .flatMap((step: Reply["body"]) => step.messages)
      .flatMap((message: Reply["body"]) => message.content)
      .filter((block: Reply["body"]) => block.type === "action_result")
      .map((block: Reply["body"]) => (typeof block.output === "string" ? block.output : block.output.stdout));
  }

  const timeline = async (runId: string): Promise<Reply["body"][]> =>
    (await call("GET", `/agent/runs/${runId}/timeline`)).body.events;

  /** The URL of the run's transcript, once it was composed. */
  async function transcriptUrl(runId: string): Promise<string> {
    const deadline = Date.now() + 120_000;
    while (true) {
      const { status, headers } = await call("GET", `/agent/runs/${runId}/transcript`);
      if (status === 302) return headers.get("location") ?? "";
      if (Date.now() > deadline) throw new Error(`run ${runId} has no transcript: ${status}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  return { call, create, until, ended, outputs, timeline, transcriptUrl };
}

/** A prompt of one or more fenced shell blocks. */
export const commands = (...blocks: readonly string[]): string =>
  blocks.map((block) => `\`\`\`sh\n${block}\n\`\`\``).join("\n\n");
