import http from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { HOSTILE } from "../../operate/observed-run.ts";
import { trySandbox } from "../../operate/try-sandbox.ts";
import { PROBE_SECRET } from "../../operate/try-sandbox-probes.ts";
import { runHarness } from "../harness/support/run-harness.ts";

/** With both kinds of quotes. */
const SECRET = `it's"0123456789abcdef`;
const T0 = Date.parse("2026-05-18T19:00:00.000Z");

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

describe("npm run aws -- try-sandbox", () => {
  const calls: Call[] = [];
  /** The sandbox that the service gives, and how its runs end. */
  let provider: string | undefined;
  let state: string;
  let stoppedBy: string;
  let hostileState: string;
  let printHostile: () => string;
  /** Whether the service has the weaknesses that the attacks on it look for. */
  let tellsDeleted: boolean;
  let acceptsAll: boolean;
  let leadsAway: boolean;
  let refusal: string;
  let status: number;
  let server: http.Server;
  let env: NodeJS.ProcessEnv;
  const said: string[] = [];

  beforeAll(async () => {
    server = http.createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      const [path = ""] = (request.url ?? "").replace("/api/v1", "").split("?");
      const call = { method: request.method ?? "", path, body: text === "" ? {} : JSON.parse(text) };
      calls.push(call);
      if (path === "/sign-in") {
        response.writeHead(leadsAway ? 302 : 200, leadsAway ? { location: "//elsewhere.invalid" } : {}).end();
        return;
      }
      const isReader = request.headers.authorization === "Bearer ryp_reader";
      const code = isReader && !tellsDeleted ? 401 : isRefused(call) ? 400 : status;
      response.writeHead(code, { "content-type": "application/json" });
      response.end(JSON.stringify(code === 200 ? respond(call, isReader) : { error: refusal, error_code: "x" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    env = { RUNYARD_BASE_URL: `http://127.0.0.1:${port}/api/v1/`, RUNYARD_API_KEY: "ryp_key" };
  });
  beforeEach(() => {
    calls.length = 0;
    said.length = 0;
    provider = undefined;
    state = "SUCCEEDED";
    stoppedBy = "harness";
    hostileState = "FAILED";
    printHostile = () => "a secret: ***";
    tellsDeleted = false;
    acceptsAll = false;
    leadsAway = false;
    refusal = "Not known";
    status = 200;
    vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** The runs that are not to be refused. */
  const listRuns = () => calls.filter(({ path, body }) => path === "/agent/runs" && body["title"] !== undefined);
  const isRefused = ({ path, body }: Call): boolean =>
    !acceptsAll && (path.endsWith("/invitations") || JSON.stringify(body).includes("@git.example.com"));

  function respond({ method, path }: Call, isReader: boolean): unknown {
    if (isReader) return { events: [event("run_cancelled", 2_000)], next: 1, ended: true };
    if (path === "/agent/keys") return { uid: "key-1", key: "ryp_reader" };
    if (path === "/agent/me") return { uid: "user", teams: [{ uid: "team-1" }] };
    if (path === "/agent/environments") return { uid: "env-1" };
    if (path === "/agent/runs") {
      const runs = listRuns().length;
      return { run_id: `run-${runs}`, task_id: `run-${runs}`, state: "QUEUED" };
    }
    if (path.endsWith("/cancel")) return "a run";
    if (!path.endsWith("/events")) return method === "DELETE" ? {} : { uid: "user" };
    const cancels = /run-[25]/.test(path);
    const isHostile = /run-[36]/.test(path);
    const isCancelled = calls.some((call) => call.path === path.replace("/events", "/cancel"));
    const events = [
      event("run_created", 0, { state: "QUEUED" }),
      event("run_pending", 200, { state: "PENDING", ...(provider && { sandbox: provider }) }),
      event("worker_container_ready", 1_200, { state: "INPROGRESS" }),
      event("agent_started", 1_500),
      ...(cancels
        ? []
        : [
            event("messages", 1_600, { messages: [isHostile ? respondHostile() : said1] }),
            isHostile
              ? event("run_failed", 3_000, { state: hostileState })
              : event(state === "FAILED" ? "run_failed" : "run_succeeded", 3_000, { state }),
          ]),
      ...(cancels && isCancelled ? [event("run_cancelled", 2_000, { state: "CANCELLED" })] : []),
      ...(cancels && isCancelled ? [event("run_stopped", 2_700, { confirmed_by: stoppedBy })] : []),
    ];
    return { events, next: events.length, ended: !cancels || isCancelled };
  }
  const respondHostile = () => ({
    role: "tool",
    content: [{ type: "action_result", output: { exit_code: 1, output: printHostile() } }],
  });
  const said1 = {
    role: "tool",
    content: [{ type: "action_result", output: { exit_code: 0, output: "Linux aarch64\n2\n" } }],
  };
  const event = (type: string, ms: number, data: object = {}) => ({
    sequence: 1,
    type,
    occurred_at: new Date(T0 + ms).toISOString(),
    data,
  });
  const report = () => said.join("\n");

  test("starts a run that reports its sandbox and one that is cancelled, and prints the results", async () => {
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(0);
    expect(report()).toMatch(/until the sandbox called\s+1\.0 s/);
    expect(report()).toMatch(/stopped after the cancel\s+0\.7 s, confirmed by the harness/);
    expect(report()).toContain("Linux aarch64");
    expect(calls.some(({ path }) => path === "/agent/environments")).toBe(false);
    expect(listRuns().map(({ body }) => body["title"])).toHaveLength(3);
  });

  test.each([
    ["ERROR", "***", /✗.* hostile run\s+ERROR/],
    ["FAILED", "*** { __runyard=$?;", /✗.* … saw the harness's program\s+yes/],
    ["FAILED", "the variable is empty", /✗.* … printed its secret\s+not at all/],
  ])("fails if hostile commands end the run in %s and print %j", async (ending, output, shown) => {
    hostileState = ending;
    printHostile = () => output;
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(1);
    expect(report()).toMatch(shown);
  });

  test("fails if the hostile run shows its secret among terminal sequences, and deletes the secret", async () => {
    const value = () => String(calls.find(({ path }) => path === "/agent/secrets")?.body["value"]);
    printHostile = () => `***${[...value()].join("\u001b[m")}`;
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(1);
    expect(report()).toMatch(/✗.* … printed its secret\s+yes/);
    expect(calls).toContainEqual(expect.objectContaining({ method: "DELETE", path: `/agent/secrets/${PROBE_SECRET}` }));
  });

  test("reads with a key that it deletes, and sends what must be refused", async () => {
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(0);
    expect(report().match(/✓.*(ended with its key|refused|to no other host)/g)).toHaveLength(7);
    const [begun, deleted, cancelled] = [
      "POST /agent/keys",
      "DELETE /agent/keys/key-1",
      "POST /agent/runs/run-2/cancel",
    ].map((wanted) => calls.findIndex(({ method, path }) => `${method} ${path}` === wanted));
    expect([begun, deleted, cancelled]).toEqual(
      [begun, deleted, cancelled].toSorted((one = 0, other = 0) => one - other),
    );
    expect(calls.filter(({ path }) => path === "/agent/teams/team-1/invitations")).toHaveLength(2);
  });

  test("fails if the service serves a deleted key, accepts lookalikes, repeats a password or redirects to another host", async () => {
    tellsDeleted = true;
    leadsAway = true;
    refusal = "the URL https://ada:hunter2-of-try-sandbox@git.example.com has a password";
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(1);
    expect(report().match(/✗.*told a deleted key/g)).toHaveLength(2);
    expect(report()).toMatch(/✗.* a sign-in leads\s+to another host by "\/\/elsewhere/);
    expect(report()).toMatch(/✗.* a password in a repository's URL\s+its password was repeated/);
    acceptsAll = true;
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(1);
    expect(report().match(/✗.*\s+accepted/g)).toHaveLength(3);
  });

  test("attacks only with commands that a run here survives, but for the last", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: HOSTILE.prompt,
      context: { secrets: [{ name: PROBE_SECRET, value: SECRET }] },
    });
    const { code, log } = await runHarness(plane);
    expect([code, plane.shutdown], log).toEqual([0, undefined]);
    expect(plane.outputs.slice(0, -1).map((output) => output.trim().split("\n").at(-1))).toEqual([
      ...[
        "links",
        "artifacts",
        "deep",
        "unreadable",
        "sparse",
        "colors",
        "quotes",
        expect.stringMatching(/traps|trapped/),
        "the last line of a document that does not end",
      ],
    ]);
    expect(plane.outcome).toMatchObject({ success: false, summary: expect.stringMatching(/^Step 10 of 10 failed/) });
    expect(plane.outputs.join("")).not.toContain("__runyard");
    const [colors = "", quotes = ""] = plane.outputs.slice(5, 7);
    expect(
      [colors, quotes].map((output) => output.split("\n").length),
      "it prints the secret in each form",
    ).toEqual([4, 5]);
    expect([colors, quotes].map((output) => output.match(/\*\*\*/g)?.length)).toEqual([2, 3]);
    expect(plane.outputs.join("")).not.toMatch(new RegExp([...SECRET.slice(5)].join(".{0,12}")));
  });

  test("creates an environment with the image for runs in containers, and removes it", async () => {
    provider = "fargate";
    stoppedBy = "provider";
    expect(await trySandbox(["--provider", "fargate", "--image", "ruby:3"], env)).toBe(0);
    const [made] = calls.filter(({ path }) => path === "/agent/environments");
    expect(made?.body).toMatchObject({ docker_image: "ruby:3" });
    const [run] = calls.filter(({ path }) => path === "/agent/runs");
    expect(run?.body["config"]).toMatchObject({ environment_id: "env-1" });
    expect(calls.at(-1)).toMatchObject({ method: "DELETE", path: "/agent/environments/env-1" });
  });

  test("fails with the remedy if the runs get another sandbox, or do not end as expected", async () => {
    expect(await trySandbox(["--provider", "microvm"], env)).toBe(1);
    expect(report()).toMatch(/lambda, microvm was asked for[\s\S]*Name microvm first in the context `sandboxes`/);
    state = "FAILED";
    expect(await trySandbox(["--provider", "lambda"], env)).toBe(1);
  });

  test("names the requirements if there is no deployment, no key, or an unknown one", async () => {
    const tried = (args: string[], over: NodeJS.ProcessEnv) => trySandbox(args, over);
    await expect(tried([], env)).rejects.toThrow("--provider takes one of lambda, microvm, fargate.");
    await expect(tried(["--provider", "docker"], env)).rejects.toThrow("--provider takes one of");
    await expect(tried(["--providers", "lambda"], env)).rejects.toThrow(/Unknown option/);
    const named = ["--provider", "lambda"];
    await expect(tried(named, { RUNYARD_API_KEY: "k" })).rejects.toThrow(/no deployment.*RUNYARD_BASE_URL/);
    await expect(tried(named, { ...env, RUNYARD_API_KEY: "" })).rejects.toThrow(
      /key of the deployment is missing: set RUNYARD_API_KEY/,
    );
    await expect(tried(named, { ...env, RUNYARD_BASE_URL: "http://127.0.0.1:1/api/v1" })).rejects.toThrow(
      "There is no deployment at http://127.0.0.1:1/api/v1.",
    );
    status = 401;
    await expect(tried(named, env)).rejects.toThrow(/does not know the key/);
    expect(await tried(["--help"], env)).toBe(0);
    expect(report()).toContain("npm run aws -- try-sandbox --provider");
  });
});
