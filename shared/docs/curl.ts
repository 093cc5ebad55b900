import {
  getRequestBody,
  type JsonObject,
  listExamples,
  type Operation,
  resolve,
  toList,
  toObject,
  toText,
} from "./openapi.ts";

/** The command that calls an operation with its first example, with variables of the shell for the parameters of its path. */
export function formatCurl({ method, path, data }: Operation, document: JsonObject, baseUrl: string): string {
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => `$${toVariable(name)}`);
  const body = firstExample(data);
  const isPublic = toList(data["security"]).length === 0;
  const options = [
    method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method}`,
    toObject(data["responses"])["302"] === undefined ? "" : "-L",
    `"${baseUrl}${target}${formatQuery(data, document)}"`,
  ].filter((option) => option !== "");
  return [
    `curl -sS ${options.join(" ")}`,
    ...(isPublic ? [] : [`  -H "Authorization: Bearer $RUNYARD_API_KEY"`]),
    ...(body === undefined ? [] : [`  -H "Content-Type: application/json"`, `  -d ${quote(JSON.stringify(body))}`]),
  ].join(" \\\n");
}

/** The first example of the request body of an operation. */
export const firstExample = (operation: JsonObject): unknown => listExamples(getRequestBody(operation))[0];

/** `runId` → `RUN_ID`. */
export const toVariable = (name: string): string => name.replace(/([A-Z])/g, "_$1").toUpperCase();

function formatQuery(operation: JsonObject, document: JsonObject): string {
  const needed = listRequiredQuery(operation, document).map((name) => `${name}=$${toVariable(name)}`);
  return needed.length === 0 ? "" : `?${needed.join("&")}`;
}

/** The names of the query parameters that an operation requires. */
export const listRequiredQuery = (operation: JsonObject, document: JsonObject): readonly string[] =>
  toList(operation["parameters"])
    .map((parameter) => resolve(toObject(parameter), document))
    .filter((parameter) => parameter["in"] === "query" && parameter["required"] === true)
    .map(({ name }) => toText(name));

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
