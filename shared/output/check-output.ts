import { runInNewContext } from "node:vm";
import { Validator } from "@cfworker/json-schema";
import * as v from "valibot";

/** How long a check may take: expressions and references of a schema can take forever. */
const CHECK_MS = 500;
const MAX_ERRORS = 10;
const MAX_ERROR_LENGTH = 300;

/** The value of a response, or why it does not fit. */
type Output = { readonly structured: unknown } | { readonly errors: readonly [string, ...string[]] };

/** Reads the JSON of a response, also in the fenced block that models like to put it in, and checks that it fits the schema. */
export function checkOutput(text: string, schema: Readonly<Record<string, unknown>>): Output {
  let value: unknown;
  try {
    value = JSON.parse(findJson(text));
  } catch (error) {
    return { errors: [`the response is not JSON: ${toLine(error instanceof Error ? error.message : String(error))}`] };
  }
  try {
    const [first, ...others] = findErrors(value, schema);
    return first === undefined ? { structured: value } : { errors: [first, ...others] };
  } catch (error) {
    return { errors: [`the response could not be checked within ${CHECK_MS} ms: ${toLine(String(error))}`] };
  }
}

/** The one fenced block of a text that has only one; the whole text otherwise. */
function findJson(text: string): string {
  const whole = text.trim();
  if (/^[[{"]/.test(whole)) return whole;
  const [fence, ...others] = [...whole.matchAll(/^```(?:json)?[ \t]*\n([\s\S]*?)\n```[ \t]*$/gm)];
  return fence?.[1] !== undefined && others.length === 0 ? fence[1] : whole;
}

/** The time limit of a script ends whatever it calls, also a regular expression. */
function findErrors(value: unknown, schema: Readonly<Record<string, unknown>>): string[] {
  // The validator adds members to the schema.
  const check = () => new Validator(structuredClone(schema), "2020-12", false).validate(value).errors;
  const errors: unknown = runInNewContext("check()", { check }, { timeout: CHECK_MS });
  const all = v.parse(Errors, errors);
  const causes = all.filter(({ keyword }) => !FOLLOWING.has(keyword));
  const findings = (causes.length > 0 ? causes : all).map(
    ({ instanceLocation, error }) => `${instanceLocation}: ${error}`,
  );
  return [...new Set(findings.map(toLine))].slice(0, MAX_ERRORS);
}

const Errors = v.array(v.object({ keyword: v.string(), instanceLocation: v.string(), error: v.string() }));

/** Keywords whose errors follow from that of a part, and say nothing more. */
const FOLLOWING: ReadonlySet<string> = new Set(["$ref", "allOf", "false", "items", "prefixItems", "properties"]);

const toLine = (text: string): string => text.replace(/\s+/g, " ").slice(0, MAX_ERROR_LENGTH);
