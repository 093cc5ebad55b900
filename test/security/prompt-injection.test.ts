import { readFileSync } from "node:fs";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { findShellBlocks } from "#harness/engine/runbook.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { createHooks, signed } from "../support/hooks.ts";

const FIELDS = ["issue", "comment", "title", "branch"] as const;
const Attempts = v.array(v.object({ field: v.picklist(FIELDS), technique: v.string(), text: v.string() }));
/** What an outsider writes, each to have a command executed. */
const ATTEMPTS = v.parse(Attempts, JSON.parse(readFileSync(new URL("injections.json", import.meta.url), "utf8")));

const SECRET = "a-secret-of-the-repository";
const OWN = "make test";
const PROMPT = [
  "Work on {{ event.payload.issue.title }} on {{ event.payload.ref }}.",
  "",
  "```sh",
  OWN,
  "```",
  "",
  "{{ event.text }}",
  "",
].join("\n");
const FOLLOWUP = "{{ event.payload.issue.title }} {{ event.payload.ref }}\n\n{{ event.text }}\n";

let plane: TestControlPlane;
let user: Client;
let uid: string;
let issue = 0;
beforeAll(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  const { body } = await createHooks(plane).create({
    ...{ kind: "github", secret: SECRET, prompt: PROMPT, followup_prompt: FOLLOWUP },
    allow: { anyone: true },
  });
  uid = body.uid;
});

/** The event of an issue, or of a comment on it, with the text of an attempt in one of its members. */
function toPayload({ field, text }: (typeof ATTEMPTS)[number], number: number): object {
  return {
    action: "created",
    sender: { login: "mallory", id: 7, type: "User" },
    repository: { full_name: "acme/shop" },
    ref: field === "branch" ? text : "main",
    installation: { token: "a-token" },
    issue: { number, title: field === "title" ? text : "It fails", body: field === "issue" ? text : "Look." },
    ...(field === "comment" ? { comment: { body: text } } : {}),
  };
}

async function deliver(payload: object): Promise<{ readonly run_id: string; readonly outcome: string }> {
  plane.clock.now += 60_000;
  // Equal bodies would be one event.
  const body = JSON.stringify({ ...payload, sent_at: plane.clock.now });
  const id = `delivery-${plane.clock.now}`;
  const { status, body: sent } = await createHooks(plane).send(
    uid,
    body,
    signed.github(SECRET, body, "issue_comment", id),
  );
  if (status !== 200) throw new Error(`the event was refused: ${status}`);
  return (await user.get(`/agent/triggers/${uid}/deliveries/${sent.delivery_id}`)).body;
}

/** The commands that a model executes which obeys every block of its instructions. */
const obey = (text: string): string[] => findShellBlocks(text).map(({ command }) => command.trim());

/** The prompt with the values of the event as they are. */
const withoutGuard = ({ field, text }: (typeof ATTEMPTS)[number]): string =>
  PROMPT.replace("{{ event.payload.issue.title }}", () => (field === "title" ? text : "It fails"))
    .replace("{{ event.payload.ref }}", () => (field === "branch" ? text : "main"))
    .replace("{{ event.text }}", () => (field === "issue" || field === "comment" ? text : "Look."));

describe("an outsider's text", () => {
  it("is tried in at least 90 ways, in issues, comments, titles and branches, none of them twice", () => {
    expect(new Set(ATTEMPTS.map(({ field, text }) => `${field} ${text}`)).size).toBe(ATTEMPTS.length);
    expect(ATTEMPTS.length).toBeGreaterThanOrEqual(90);
    for (const field of FIELDS) expect(ATTEMPTS.filter((one) => one.field === field).length).toBeGreaterThan(5);
  });

  it("makes a model that obeys every block execute a command in at least 50 ways without the guard", () => {
    const succeeded = ATTEMPTS.filter((attempt) => obey(withoutGuard(attempt)).some((one) => one.includes("evil")));
    expect(succeeded.length).toBeGreaterThanOrEqual(50);
  });

  it.each(ATTEMPTS)("of a $field causes no command by $technique, in a prompt and in a follow-up", async (attempt) => {
    issue += 1;
    const started = await deliver(toPayload(attempt, issue));
    expect(started).toMatchObject({ outcome: "started" });
    const { body: run } = await user.get(`/agent/runs/${started.run_id}`);
    expect(obey(run.prompt)).toEqual([OWN]);
    expect(run.prompt).not.toContain("a-token");
    const continued = await deliver(toPayload(attempt, issue));
    expect(continued).toMatchObject({ outcome: "followed_up", run_id: started.run_id });
    const { body } = await user.get(`/agent/runs/${started.run_id}/followups`);
    const [{ message }] = body.followups;
    expect(obey(message)).toEqual([]);
    expect(message).not.toContain("a-token");
    // None of it configures the run.
    expect(JSON.stringify([run.title, run.agent_config, run.metadata])).not.toContain("evil");
  });
});
