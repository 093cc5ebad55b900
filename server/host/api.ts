import * as v from "valibot";
import { Problem } from "./terminal.ts";

export interface Api {
  baseUrl: string;
  key: string;
  /** Ends every call that is under way, so that a stop need not wait for a long poll. */
  signal?: AbortSignal;
}

const ProblemBody = v.object({ error: v.string(), error_code: v.optional(v.string()) });

/** Calls the API as any caller would, and reads the response through its schema. */
export async function callApi<S extends v.GenericSchema>(
  api: Api,
  method: "GET" | "POST" | "DELETE",
  path: string,
  schema: S,
  body?: unknown,
): Promise<v.InferOutput<S>> {
  const response = await fetch(`${api.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${api.key}`,
      "x-run-source": "LOCAL",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "manual",
    signal: AbortSignal.any([AbortSignal.timeout(60_000), ...(api.signal === undefined ? [] : [api.signal])]),
  });
  const text = await response.text();
  const json = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  if (!response.ok) {
    const problem = v.safeParse(ProblemBody, json.output);
    const detail = problem.success ? problem.output.error : text.slice(0, 300);
    throw new Problem(`${method} ${path} returned ${response.status}: ${detail}`);
  }
  const parsed = v.safeParse(schema, json.output);
  if (parsed.success) return parsed.output;
  throw new Problem(`${method} ${path} returned what its schema does not allow: ${v.summarize(parsed.issues)}`);
}

/** The status of a plain GET; 0 if nothing responds. */
export async function fetchStatus(url: string, key?: string): Promise<number> {
  return fetch(url, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(20_000),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return response.status;
    },
    () => 0,
  );
}
