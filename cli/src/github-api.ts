import * as v from "valibot";
import { Problem } from "./problem.ts";

export interface GithubRequest {
  /** @default "GET" */
  readonly method?: "GET" | "POST" | "PATCH";
  readonly url: string;
  readonly token?: string;
  readonly body?: object;
  /** @default 30,000 */
  readonly timeoutMs?: number;
  /** What to check if GitHub does not accept the caller (401, 403, 404). */
  readonly remedy: string;
}

/** Calls the API of GitHub, and returns the JSON of the response; undefined if it has none. */
export async function requestGithub(request: GithubRequest): Promise<unknown> {
  const { method = "GET", url, token, body, timeoutMs = 30_000, remedy } = request;
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "runyard",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : error;
    throw new Problem(`GitHub's API at ${new URL(url).origin} could not be reached: ${reason}`);
  });
  const text = await response.text();
  if (response.ok) return parse(text);
  throw new Problem(`GitHub refused (${response.status}): ${describe(text)}`, {
    ...([401, 403, 404].includes(response.status) ? { remedy } : {}),
  });
}

const Refusal = v.object({
  message: v.string(),
  errors: v.optional(v.array(v.object({ message: v.optional(v.string(), "") })), []),
});

function describe(text: string): string {
  const refusal = v.safeParse(Refusal, parse(text));
  if (!refusal.success) return text.slice(0, 300);
  const { message, errors } = refusal.output;
  return [message, ...errors.map((error) => error.message)].filter((part) => part !== "").join("; ");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
