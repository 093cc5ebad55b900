import { parseJson } from "../../support/parse-json.ts";

/** Member that holds an input that is not a JSON object, as the model sent it. */
const NOT_JSON = "runyard_not_json";
/** Characters of an invalid input that are returned to the model. */
const SHOWN = 300;

/** Parses the input of a tool call. Always returns an object, even if the model sent something else. */
export function parseToolInput(sent: unknown): Record<string, unknown> {
  const parsed = typeof sent === "string" ? parseJson(sent.trim() === "" ? "{}" : sent) : sent;
  // Some models encode the object twice.
  const value = typeof parsed === "string" ? parseJson(parsed) : parsed;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  return { [NOT_JSON]: typeof sent === "string" ? sent : JSON.stringify(sent ?? null) };
}

/** Returns the error for an input that is not a JSON object; undefined if it is one. */
export function findInputFault(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !(NOT_JSON in input)) return undefined;
  const sent = String(input[NOT_JSON]).slice(0, SHOWN);
  return `the input of this call is not a JSON object, so nothing was done; it starts with: ${sent}`;
}
