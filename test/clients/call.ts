import { type ApiOperation, readDocument } from "../../clients/typescript/scripts/document.ts";
import { camelCase, readMethodNames } from "../../clients/typescript/scripts/methods.ts";
import type { RequestOptions, Runyard } from "../../clients/typescript/src/index.ts";
import type { Vector } from "./vectors.ts";

const { operations } = readDocument();
const names = readMethodNames();

/** Calls the method that a vector names: maps the flat arguments to the method's own, and returns its result. */
export function call(client: Runyard, { operation, helper, arguments: given, options }: Vector["call"]): unknown {
  const own: RequestOptions = {
    timeout: options.timeout_ms,
    maxRetries: options.max_retries,
    idempotencyKey: options.idempotency_key,
    headers: options.headers,
    team: options.team,
  };
  if (helper !== undefined) return callHelper(client, helper, given, own);
  const found = operations.find(({ id }) => id === operation);
  if (found === undefined) throw new Error(`there is no operation ${operation}`);
  return invoke(client, names[found.id] ?? "", buildArguments(found, given, own));
}

function callHelper(
  client: Runyard,
  helper: NonNullable<Vector["call"]["helper"]>,
  { run_id, artifact_uid, ...more }: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): unknown {
  switch (helper) {
    case "events":
      return invoke(client, "runs.events", [run_id, { ...more, ...options }]);
    case "follow_until_done":
      return invoke(client, "runs.followUntilDone", [run_id, { ...more, ...options }]);
    case "create_and_wait":
      return invoke(client, "runs.createAndWait", [more, options]);
    case "download_transcript":
      return invoke(client, "runs.downloadTranscript", [run_id, options]);
    case "download_artifact":
      return invoke(client, "artifacts.download", [artifact_uid, options]);
  }
}

/** Calls `resource.method` of the client, by its name in clients/methods.json or its own. */
function invoke(client: Runyard, dotted: string, values: readonly unknown[]): unknown {
  const parts = dotted.split(".").map(camelCase);
  const owner: object = parts.slice(0, -1).reduce((object: object, part) => Reflect.get(object, part), client);
  const method: unknown = Reflect.get(owner, parts.at(-1) ?? "");
  if (typeof method !== "function") throw new Error(`the client has no ${dotted}`);
  return Reflect.apply(method, owner, values);
}

function buildArguments(operation: ApiOperation, given: Readonly<Record<string, unknown>>, options: RequestOptions) {
  const rest = new Map(Object.entries(given));
  const take = (name: string): unknown => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  const path = operation.pathParameters.map(({ name }) => take(snakeCase(name)));
  const query = Object.fromEntries(operation.queryParameters.map(({ name }) => [name, take(name)]));
  const body = operation.body === undefined ? [] : [Object.fromEntries(rest)];
  if (operation.body === undefined && rest.size > 0) throw new Error(`${operation.id} takes no ${[...rest.keys()]}`);
  // The client always requests the transcript with the same query, so the caller passes none.
  const hasQuery = operation.queryParameters.length > 0 && body.length === 0 && operation.id !== "getTranscript";
  return [...path, ...body, ...(hasQuery ? [query] : []), options];
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
