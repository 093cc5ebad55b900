import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultServer } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { api } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
let directory: string;
beforeAll(async () => {
  await server.start();
  directory = await mkdtemp(join(tmpdir(), "triggers-"));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

const trigger = (members: object = {}) =>
  api({
    uid: "t1",
    name: "builds",
    kind: "webhook",
    enabled: true,
    ingress_url: "https://runyard.test/api/v1/hooks/t1",
    verification: { scheme: "hmac", header: "X-Signature", encoding: "hex" },
    prompt: "look",
    mode: "normal",
    scope: { type: "Team", uid: "team" },
    created_at: "",
    updated_at: "",
    ...members,
  });
const sentBody = (): unknown => JSON.parse(server.seen.at(-1)?.body ?? "");

describe("runyard triggers create", () => {
  it("sends the verification, and prints the URL and the secret", async () => {
    server.play([trigger({ secret: "whsec_x" })]);
    const command =
      "triggers create --name builds --prompt look --event a --event b --thread-key event.payload.id --scheme hmac --header X-Signature";
    const { out, err } = await run([
      ...command.split(" "),
      "--timestamp-header",
      "X-Time",
      "--paused",
      "--filter",
      "event.text != ''",
    ]);
    expect(sentBody()).toEqual({
      kind: "webhook",
      name: "builds",
      prompt: "look",
      events: ["a", "b"],
      filter: "event.text != ''",
      thread_key: "event.payload.id",
      verification: { scheme: "hmac", header: "X-Signature", timestamp_header: "X-Time" },
      enabled: false,
    });
    expect(out).toContain("https://runyard.test/api/v1/hooks/t1");
    expect(out).toContain("whsec_x");
    expect(err).toContain("shown only once");
  });

  it("sends a preset as one of the kind webhook, and who may start runs", async () => {
    server.play([trigger({ preset: "sentry", secret: "s" }), trigger({ kind: "github", verification: undefined })]);
    const { out } = await run("triggers create --name alerts --kind sentry".split(" "));
    expect(sentBody()).toEqual({ kind: "webhook", preset: "sentry", name: "alerts" });
    expect(out).toContain("sentry");
    const github =
      "triggers create --name issues --kind github --prompt look --allow-bot a --allow-bot b --allow-anyone";
    await run(github.split(" "));
    const allow = { bots: ["a", "b"], anyone: true };
    expect(sentBody()).toEqual({ kind: "github", name: "issues", prompt: "look", allow });
  });

  it.each([
    [["--prompt", "p"], "--name is required."],
    [["--name", "n", "--kind", "github"], "--prompt is required with --kind github."],
    [["--name", "n", "--prompt", "p", "--header", "H"], "need --scheme."],
    [["--name", "n", "--prompt", "-", "--secret-stdin"], "exclude each other."],
  ])("refuses %j and sends nothing", async (options, message) => {
    server.play([]);
    const { code, err } = await run(["triggers", "create", ...options]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(server.seen).toEqual([]);
  });
});

describe("runyard triggers update", () => {
  it("clears the identity and the types of events, and keeps the rest", async () => {
    server.play([trigger()]);
    await run(["triggers", "update", "t1", "--no-agent", "--all-events"]);
    expect(sentBody()).toEqual({ agent_uid: "", events: [] });
  });
});

describe("runyard triggers test", () => {
  it("sends the event of a file, and prints the outcome with the prompt", async () => {
    const file = join(directory, "event.json");
    await writeFile(file, JSON.stringify({ build: 1 }));
    const event = { type: "build", action: "failed", payload: { build: 1 } };
    server.play([
      api({ outcome: "ignored", reason: "paused", event, prompt: "Look into 1", missing_values: ["event.x"] }),
    ]);
    const { out } = await run(["triggers", "test", "t1", file, "--header", "X-GitHub-Event=build", "--prompt", "Look"]);
    expect(sentBody()).toEqual({ headers: { "X-GitHub-Event": "build" }, payload: { build: 1 }, prompt: "Look" });
    for (const text of ["ignored (paused)", "build.failed", "event.x", "Look into 1"]) expect(out).toContain(text);
  });

  it("refuses a file that is no JSON object", async () => {
    const file = join(directory, "list.json");
    await writeFile(file, "[1]");
    const { code, err } = await run(["triggers", "test", "t1", file]);
    expect([code, err]).toEqual([2, expect.stringContaining("is neither a JSON object nor a form")]);
  });

  it("reads the form in which Slack sends a button, and prints the run that it is for", async () => {
    const file = join(directory, "form.txt");
    await writeFile(file, `${new URLSearchParams({ payload: JSON.stringify({ type: "block_actions" }) })}\n`);
    const event = { type: "block_actions", action: "", payload: {} };
    server.play([api({ outcome: "followed_up", run_id: "r1", event, prompt: "" })]);
    const { out } = await run(["triggers", "test", "t1", file]);
    expect(sentBody()).toEqual({ payload: { type: "block_actions" } });
    expect(out).toMatch(/followed_up[\s\S]*r1/);
  });
});

describe("runyard triggers replay", () => {
  it("tests each event of a file in order, and refuses a file of another form", async () => {
    const file = join(directory, "events.json");
    const events = [{ headers: { "X-GitHub-Event": "push" }, payload: { build: 1 } }, { payload: { build: 2 } }];
    await writeFile(file, JSON.stringify(events));
    const event = { type: "push", action: "", payload: {} };
    server.play(["one", "two"].map((prompt) => api({ outcome: "started", event, prompt })));
    const { out } = await run(["triggers", "replay", "t1", file]);
    expect(server.seen.map(({ body }) => JSON.parse(body))).toEqual(events);
    expect(out).toMatch(/one[\s\S]*two/);
    await writeFile(file, "{}");
    const { code, err } = await run(["triggers", "replay", "t1", file]);
    expect([code, err]).toEqual([2, expect.stringContaining("is not a JSON array of objects")]);
  });
});

describe("runyard triggers delivery and redeliver", () => {
  it("show a delivery with its payload, and the outcome of a redelivery", async () => {
    const common = { event_type: "push", received_at: "2026-05-18T19:00:00.000Z", attempts: 1 };
    server.play([
      api({ ...common, delivery_id: "d1", outcome: "ignored", reason: "paused", payload: { build: 1 } }),
      api({ ...common, delivery_id: "d2", outcome: "followed_up", run_id: "r1", followup_id: "followup-1" }),
    ]);
    expect((await run(["triggers", "delivery", "t1", "d1"])).out).toMatch(/ignored \(paused\)[\s\S]*"build": 1/);
    const { out } = await run(["triggers", "redeliver", "t1", "d1"]);
    expect(out).toMatch(/d2[\s\S]*followed_up[\s\S]*r1[\s\S]*followup-1/);
    expect(server.seen.at(-1)).toMatchObject({ method: "POST" });
  });
});

describe("runyard triggers deliveries", () => {
  it("shows the outcome of each delivery with its run or reason", async () => {
    const common = { event_type: "build", received_at: "2026-05-18T19:00:00.000Z", attempts: 1 };
    server.play([
      api({
        deliveries: [
          { ...common, delivery_id: "d2", outcome: "failed", detail: "agent_uid: does not exist" },
          { ...common, delivery_id: "d1", action: "failed", outcome: "started", run_id: "r1" },
        ],
      }),
    ]);
    const { out } = await run(["triggers", "deliveries", "t1"]);
    expect(out).toMatch(/d2.*build .*failed .*agent_uid: does not exist/);
    expect(out).toMatch(/d1.*build\.failed .*started .*r1/);
  });
});

describe("runyard triggers export", () => {
  it("prints what `create --file` and `import` take back: neither times nor secrets", async () => {
    const stored = {
      filter: "event.text != ''",
      events: ["build.failed"],
      last_delivery: { at: "", outcome: "started" },
      failing_since: "2026-05-18T19:00:00.000Z",
      created_by: { type: "user", uid: "u1" },
    };
    server.play([trigger(stored)]);
    const { out } = await run(["triggers", "export", "t1"]);
    const members = {
      name: "builds",
      kind: "webhook",
      prompt: "look",
      enabled: true,
      mode: "normal",
      verification: { scheme: "hmac", header: "X-Signature", encoding: "hex" },
      events: ["build.failed"],
      filter: "event.text != ''",
    };
    expect(JSON.parse(out)).toEqual({ triggers: [{ uid: "t1", ...members }] });

    const file = join(directory, "triggers.json");
    await writeFile(file, out);
    server.play([trigger({ secret: "whsec_new" })]);
    const created = await run(["triggers", "create", "--file", file]);
    expect(sentBody()).toEqual(members);
    expect(created.out).toContain("whsec_new");
    expect(created.err).toContain("Save the secrets now");
  });

  it("prints all triggers by default, and no verification of a preset", async () => {
    const sentry = { uid: "t2", preset: "sentry", verification: { scheme: "hmac", header: "Sentry-Hook-Signature" } };
    server.play([api({ triggers: [trigger(sentry).body, trigger().body] })]);
    const { out } = await run(["triggers", "export"]);
    expect(JSON.parse(out).triggers).toMatchObject([{ preset: "sentry" }, { name: "builds" }]);
    expect(JSON.parse(out).triggers[0]).not.toHaveProperty("verification");
  });

  it("names a file that `create --file` cannot use", async () => {
    const file = join(directory, "bad.json");
    await writeFile(file, "[]");
    expect((await run(["triggers", "create", "--file", file])).err).toContain("must be such as");
    await writeFile(file, "5");
    expect((await run(["triggers", "import", file])).err).toContain('"kind": …}]}. Invalid type');
    await writeFile(file, "triggers: [{name: a}]");
    expect((await run(["triggers", "import", file])).err).toContain("triggers.0.kind");
    await writeFile(file, "triggers: [");
    expect((await run(["triggers", "import", file])).err).toContain("is neither JSON nor YAML");
    expect((await run(["triggers", "create", "--file", join(directory, "none.json")])).err).toContain("cannot be read");
  });
});

describe("runyard triggers import", () => {
  const STORED = { filter: "event.text != ''", metadata: { team: "web" } };
  /** Exports a trigger in a format, and returns the file. */
  async function exportTo(format: "json" | "yaml", more: object = {}): Promise<string> {
    const file = join(directory, `triggers.${format}`);
    server.play([trigger({ ...STORED, ...more })]);
    await writeFile(file, (await run(["triggers", "export", "--format", format, "t1"])).out);
    return file;
  }
  const list = (...triggers: object[]) => api({ triggers: triggers.map((more) => trigger(more).body) });
  const sent = () =>
    server.seen.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);

  it.each(["json", "yaml"] as const)("changes nothing for an exported file of %s", async (format) => {
    const prompt = "Look:\n\n- one\tof \u202e\u0007 them\n  # no comment\n";
    const file = await exportTo(format, { prompt });
    server.play([list({ ...STORED, prompt })]);
    const { out, code } = await run(["triggers", "import", file]);
    expect([code, out.trim(), sent()]).toEqual([0, "unchanged  builds", []]);
  });

  it("changes the trigger of the uid, else of the name, and clears what the file does not have", async () => {
    const file = await exportTo("yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("prompt: look", "prompt: look again"));
    server.play([list({ ...STORED, pause_after_failures: 3 }), trigger()]);
    expect((await run(["triggers", "import", file])).out).toContain("changed  builds");
    expect(sent()).toEqual(["PUT /agent/triggers/t1"]);
    expect(sentBody()).toMatchObject({ prompt: "look again", pause_after_failures: 0, busy: "enqueue", events: [] });
    expect(sentBody()).not.toHaveProperty("scopes");
    server.seen.length = 0;
    server.play([list({ ...STORED, uid: "t9" })]);
    expect((await run(["triggers", "import", file, "--dry-run"])).out).toContain("would change  builds");
    expect(sent()).toEqual([]);
  });

  it.each([
    ["", { scheme: "standard" }],
    ["verification: {scheme: hmac, header: X-A}, ", { scheme: "hmac", header: "X-A", encoding: "hex" }],
  ])("changes nothing for a file with %j that leaves out the defaults", async (members, verification) => {
    const file = join(directory, "short.yaml");
    await writeFile(file, `triggers: [{name: builds, kind: webhook, ${members}prompt: look, team: true}]`);
    server.play([list({ verification })]);
    const { out, code } = await run(["triggers", "import", file]);
    expect([code, out.trim(), sent()]).toEqual([0, "unchanged  builds", []]);
  });

  it("keeps the prompt of a preset that the file leaves out", async () => {
    const file = join(directory, "preset.yaml");
    await writeFile(file, "triggers: [{name: builds, kind: webhook, preset: sentry, secret: of-the-other-system}]");
    server.play([list({ preset: "sentry", prompt: "Find the cause." })]);
    const { out, code } = await run(["triggers", "import", file]);
    expect([code, out.trim(), sent()]).toEqual([0, "unchanged  builds", []]);
  });

  it("changes only the scopes", async () => {
    const file = await exportTo("json", { scopes: ["runs:read"] });
    server.play([list({ ...STORED, scopes: ["runs:read", "runs:write"] }), trigger()]);
    expect((await run(["triggers", "import", file])).out).toContain("changed  builds");
    expect(sent()).toEqual(["PUT /agent/triggers/t1"]);
    expect(sentBody()).toMatchObject({ scopes: ["runs:read"] });
  });

  it("creates what is not there, prints the secret, and says what events of the App need", async () => {
    const file = join(directory, "new.yaml");
    await writeFile(file, "triggers:\n  - name: mentions\n    kind: github\n    prompt: look\n");
    server.play([list(), trigger({ name: "mentions", secret: "whsec_new" })]);
    const { out, err } = await run(["triggers", "import", file]);
    expect(out).toContain("whsec_new");
    expect(err).toContain("runyard github claim");
    expect(sentBody()).toEqual({ name: "mentions", kind: "github", prompt: "look" });
  });

  it.each([
    ["a kind that differs", { kind: "github", verification: undefined }, "kind of a trigger cannot be changed"],
    [
      "a verification that differs",
      { verification: { scheme: "bearer" } },
      "verification of a trigger cannot be changed",
    ],
  ])("refuses %s before anything is written", async (_, more, message) => {
    const file = await exportTo("json");
    server.play([list({ ...STORED, ...more })]);
    const { code, err } = await run(["triggers", "import", file]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(sent()).toEqual([]);
  });

  it("refuses names that do not tell which trigger is meant", async () => {
    const file = join(directory, "twice.yaml");
    await writeFile(file, "triggers: [{name: builds, kind: webhook}]");
    server.play([list({}, { uid: "t2" })]);
    expect((await run(["triggers", "import", file])).err).toContain("Several triggers have the name builds");
    await writeFile(file, "triggers: [{name: builds, kind: webhook}, {name: builds, kind: webhook}]");
    server.play([list()]);
    expect((await run(["triggers", "import", file])).err).toContain("Several entries of the file have the name");
  });
});
