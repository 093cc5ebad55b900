/** Stands for the input of a tool that is no JSON object; its value is what the model sent. */
const NOT_JSON = "runyard_not_json";
/** So much of it the model is shown again. */
const SHOWN = 300;

/** The input of a tool's call: an object always, also where the model sent something else. */
export function parseToolInput(sent: unknown): Record<string, unknown> {
  const value = typeof sent === "string" ? parseJson(sent.trim() === "" ? "{}" : sent) : sent;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  return { [NOT_JSON]: typeof sent === "string" ? sent : JSON.stringify(sent ?? null) };
}

/** What to tell the model of an input that is no JSON object; undefined where it is one. */
export function findInputFault(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !(NOT_JSON in input)) return undefined;
  const sent = String(input[NOT_JSON]).slice(0, SHOWN);
  return `the input of this call is not a JSON object, so nothing was done; it began with: ${sent}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
