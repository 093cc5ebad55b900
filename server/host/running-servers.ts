import * as v from "valibot";

/** The default ports of local model servers. */
const USUAL_PORTS = [
  ["Ollama", 11_434],
  ["LM Studio", 1_234],
  ["vLLM", 8_000],
  ["llama.cpp", 8_080],
] as const;
/** Milliseconds within which a server on this machine has to respond to be offered. */
const TIMEOUT_MS = 400;
const MAX_BYTES = 256 * 1024;
const MAX_MODELS = 3;

/** A response of GET /v1/models. */
const ModelList = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ data: v.array(v.object({ id: v.pipe(v.string(), v.regex(/^[\w./:@+-]{1,200}$/)) })) }),
);

/** A model server on this machine. */
export interface RunningServer {
  /** The program whose default port this is. */
  readonly program: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

/** Finds model servers on the default ports of this machine. It only requests the list of models. */
export async function findRunningServers(
  ports: readonly (readonly [string, number])[] = USUAL_PORTS,
): Promise<readonly RunningServer[]> {
  const found = await Promise.all(
    ports.map(async ([program, port]) => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      const models = await listModels(baseUrl).catch(() => []);
      return models.length === 0 ? [] : [{ program, baseUrl, models }];
    }),
  );
  return found.flat();
}

async function listModels(baseUrl: string): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${baseUrl}/models`, { redirect: "error", signal });
  if (!response.ok || Number(response.headers.get("content-length") ?? 0) > MAX_BYTES) return [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    // Leaving the loop cancels the body.
    if (text.length > MAX_BYTES) return [];
  }
  const parsed = v.safeParse(ModelList, text);
  return parsed.success ? parsed.output.data.map(({ id }) => id) : [];
}

/** How to use the servers that the settings do not have yet; they are never chosen without being configured. */
export function offerServers(servers: readonly RunningServer[], configured: readonly string[]): readonly string[] {
  const configuredPlaces = new Set(configured.map(toPlace));
  return servers
    .filter(({ baseUrl }) => !configuredPlaces.has(toPlace(baseUrl)))
    .map(({ program, baseUrl, models }) => {
      const modelList = models.slice(0, MAX_MODELS).join(",");
      const more = models.length > MAX_MODELS ? ` and ${models.length - MAX_MODELS} more` : "";
      return `${program} seems to run at ${baseUrl} with ${modelList}${more}. To use it, restart with RUNYARD_COMPATIBLE_BASE_URL=${baseUrl} RUNYARD_COMPATIBLE_MODELS=${modelList}, or list it in runyard.json.`;
    });
}

/** Host and port of an address, where the names of this machine are the same. */
function toPlace(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  const host = /^(?:localhost|\[::1\]|0\.0\.0\.0)$/.test(url.hostname) ? "127.0.0.1" : url.hostname;
  return `${host}:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
}
