import { createHash } from "node:crypto";
import * as v from "valibot";

/** What a fixture leaves open, written {{run_id}}: values that differ from one cloud and one run to the next. */
export const PLACEHOLDERS = [
  "api_key",
  "team_uid",
  "base_url",
  "run_id",
  "run_key",
  "execution_id",
  "conversation_id",
  "artifact_uid",
  "schedule_id",
  "identity_uid",
  "environment_uid",
  "key_uid",
  "member_uid",
  "other_key",
  "invitation_id",
  "invitation_token",
  "session_uid",
  "rule_uid",
  "trigger_uid",
  "delivery_id",
  "webhook_uid",
  "oidc_token",
] as const;
export const Placeholder = v.picklist(PLACEHOLDERS);
export type Placeholder = v.InferOutput<typeof Placeholder>;
export type FixtureValues = Partial<Record<Placeholder, string>>;

const OPEN = /\{\{([^{}]*)\}\}/g;

/** The placeholders in a fixture's text, each once. Throws on an unknown one. */
export function placeholdersIn(text: string): Placeholder[] {
  const names = new Set([...text.matchAll(OPEN)].map(([, name = ""]) => name));
  return [...names].map((name) => {
    if (v.is(Placeholder, name)) return name;
    throw new Error(`{{${name}}} is not a placeholder; there are: ${PLACEHOLDERS.join(", ")}`);
  });
}

/** The event that a fixture's text stands for. Throws where the text is no JSON or a placeholder has no value. */
export function fillFixture(text: string, values: FixtureValues): unknown {
  const missing = placeholdersIn(text).filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new Error(`there is no value for ${missing.map((name) => `{{${name}}}`).join(", ")}`);
  const event: unknown = JSON.parse(text);
  return measured(filled(event, values));
}

function filled(value: unknown, values: FixtureValues): unknown {
  if (typeof value === "string") {
    return value.replace(OPEN, (whole, name: string) => (v.is(Placeholder, name) ? (values[name] ?? whole) : whole));
  }
  if (Array.isArray(value)) return value.map((entry) => filled(entry, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, filled(entry, values)]));
}

const Request = v.looseObject({
  headers: v.looseObject({ "content-length": v.string() }),
  body: v.string(),
  isBase64Encoded: v.literal(false),
});
const Batch = v.looseObject({ Records: v.array(v.looseObject({ body: v.string(), md5OfBody: v.string() })) });

/** Length and checksum of a body change with the values in it. */
function measured(event: unknown): unknown {
  if (v.is(Request, event)) {
    const length = String(Buffer.byteLength(event.body));
    return { ...event, headers: { ...event.headers, "content-length": length } };
  }
  if (v.is(Batch, event)) {
    return { ...event, Records: event.Records.map((record) => ({ ...record, md5OfBody: md5(record.body) })) };
  }
  return event;
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
