import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, startedRun, workingRun } from "../../support/execution.ts";

describe.each(["/agent/runs", "/agent/run"])("POST %s", (path) => {
  // @contract general.format.null
  // @contract general.format.unknown-members: Unknown members of a body are ignored.
  // @contract runs.create.paths: POST /agent/runs and POST /agent/run are the same, and return 200.
  // @contract runs.request.skill-wins: skill takes precedence over config.skill_spec.
  // @contract runs.request.interactive: interactive is a boolean, false by default.
  // @contract runs.config.members: A configuration accepts every documented member.
  // @contract runs.config.mcp-list: mcp_servers may be a list whose items have names; responses contain the map.
  // @contract runs.config.harness-hidden
  // @contract runs.config.name: A run from a skill has the skill's name unless it has its own.
  // @contract runs.mcp.secrets
  // @contract runs.item.config: agent_config is the resolved configuration.
  // @contract runs.item.skill: agent_skill names the skill's full path.
  // @contract runs.source.headers: The header X-Run-Source, or X-Oz-Api-Source, states the source of a run.
  it("accepts every member, returns the resolved configuration, and masks secrets", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const body = {
      prompt: "do it",
      title: "  A title  ",
      skill: "owner/repo:skills/review/SKILL.md",
      team: true,
      interactive: true,
      mode: "plan",
      metadata: { "ticket.id": "T-1" },
      execution_location: "REMOTE",
      unknown_member: { ignored: true },
      config: {
        model_id: "local/runbook",
        base_prompt: "be brief",
        skills: ["owner/repo:other"],
        mcp_servers: [
          { name: "files", command: "mcp-files", args: ["--root"], env: { TOKEN: "very secret" } },
          { name: "web", url: "https://mcp.test/sse", headers: { authorization: "very secret" } },
        ],
        repositories: [{ url: "https://git.test/owner/repo.git", ref: "main", path: "code" }],
        computer_use_enabled: true,
        idle_timeout_minutes: 60,
        worker_host: "hosted",
        harness: { type: "oz" },
        credential_strategy: null,
        session_sharing: { public_access: "VIEWER" },
        another: 1,
      },
    };
    const created = await user.post(path, body, { headers: { "x-oz-api-source": "CLI" } });
    expect(created.status).toBe(200);
    const { body: run } = await user.get(`/agent/runs/${created.body.run_id}`);
    expect(run).toMatchObject({
      title: "A title",
      source: "CLI",
      metadata: { "ticket.id": "T-1" },
      agent_skill: { full_path: "owner/repo:skills/review/SKILL.md" },
    });
    expect(run.agent_config).toEqual({
      name: "review",
      model_id: "local/runbook",
      base_prompt: "be brief",
      skill_spec: "owner/repo:skills/review/SKILL.md",
      skills: ["owner/repo:skills/review/SKILL.md"],
      mcp_servers: {
        files: { command: "mcp-files", args: ["--root"], env: { TOKEN: "***" } },
        web: { url: "https://mcp.test/sse", headers: { authorization: "***" } },
      },
      repositories: [{ url: "https://git.test/owner/repo.git", ref: "main", path: "code" }],
      computer_use_enabled: true,
      idle_timeout_minutes: 60,
      credential_strategy: null,
      session_sharing: { public_access: "VIEWER" },
    });
    expect(JSON.stringify(await user.get("/agent/runs"))).not.toContain("very secret");
    expect((await createHarness(plane, await plane.dispatch(created.body.run_id)).resolve()).body.context.mode).toBe(
      "plan",
    );
  });

  // @contract general.text.code-points
  // @contract general.limits.base-prompt
  // @contract runs.request.prompt-size
  // @contract runs.request.title-size
  // @contract runs.request.attachments-size
  // @contract runs.request.metadata-size
  // @contract runs.item.metadata: metadata is returned as it was sent.
  // @contract runs.item.prompt-cut
  it("accepts values exactly at their limits", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`k${index}`.padEnd(64, "k"), "v".repeat(256)]),
    );
    const data = Buffer.alloc(3_040_870, 7);
    const prompt = "é".repeat(131_072);
    const attachments = [
      { file_name: 'résumé "1".bin', mime_type: "application/octet-stream", data: data.toString("base64") },
    ];
    const config = { name: "😀".repeat(256), base_prompt: "b".repeat(65_536) };
    const small = await user.post(path, { prompt, title: "t".repeat(512), metadata, config });
    expect(small.status).toBe(200);
    const { body: run } = await user.get(`/agent/runs/${small.body.run_id}`);
    expect(run).toMatchObject({ prompt, metadata, title: "t".repeat(512) });
    expect((await user.get("/agent/runs")).body.runs[0].prompt).toBe("é".repeat(1_000));
    const large = await user.post(path, { prompt: "a", attachments });
    expect(large.status).toBe(200);
    const { context } = (await createHarness(plane, await plane.dispatch(large.body.run_id)).resolve()).body;
    expect(context.attachments).toMatchObject([{ filename: 'résumé "1".bin', mime_type: "application/octet-stream" }]);
    expect(await plane.files.get(new URL(context.attachments[0].download_url).pathname.slice(1))).toEqual(data);
  });

  // @contract runs.request.prompt-required
  // @contract runs.request.images: images is the older name of attachments.
  // @contract runs.config.name
  // @contract runs.config.skill-mirror: The returned skill_spec is the first of skills.
  it("creates a run from a skill or images only, and titles it", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const skill = await createRun(plane, { config: { skills: ["o/r:tidy", "o/r:test"] } });
    expect((await user.get(`/agent/runs/${skill}`)).body).toMatchObject({
      prompt: "",
      title: "o/r:tidy",
      agent_config: { name: "tidy", skill_spec: "o/r:tidy", skills: ["o/r:tidy", "o/r:test"] },
    });
    const images = await createRun(plane, { prompt: "look", images: [{ data: "aGk=", mime_type: "image/svg+xml" }] });
    const { context } = (await createHarness(plane, await plane.dispatch(images)).resolve()).body;
    expect(context.attachments).toMatchObject([{ filename: "image-1.svg", mime_type: "image/svg+xml" }]);
  });

  it("keeps the run and responds normally if its message cannot be sent", async () => {
    const plane = await createTestControlPlane();
    const failing = {
      ...plane.ports,
      queue: { ...plane.ports.queue, sendRun: () => Promise.reject(new Error("no queue")) },
    };
    const { createRun: endpoint } = await import("#functions/runs/create-run.ts");
    const response = await plane.call(
      { handle: (event) => endpoint.handle(event, failing) },
      { body: { prompt: "a" }, rawPath: path },
    );
    expect(response.status).toBe(200);
    expect((await createClient(plane).get(`/agent/runs/${response.body.run_id}`)).body.state).toBe("QUEUED");
  });
});

describe("POST /agent/runs by kind of caller", () => {
  // @contract general.team.one: A caller in one team needs no team header.
  // @contract general.team.default-personal: A personal key creates team runs by default if its user has a team.
  // @contract runs.request.team: team states whether the run is the team's; true by default for a caller with a team.
  // @contract runs.item.scope: scope states the owner: User or Team, with the uid.
  it("creates a team run by default for a caller with one team, and a personal run without a team or on request", async () => {
    const plane = await createTestControlPlane();
    const getScope = async (key: string, body: object) => {
      const client = createClient(plane, key);
      const created = await client.post("/agent/runs", { prompt: "a", ...body });
      return (await client.get(`/agent/runs/${created.body.run_id}`)).body.scope;
    };
    const alone = await plane.person("Lou", []);
    expect(await getScope(plane.key, {})).toEqual({ type: "Team", uid: plane.team });
    expect(await getScope(plane.key, { team: false })).toEqual({ type: "User", uid: plane.user });
    expect(await getScope(alone.key, {})).toEqual({ type: "User", uid: alone.uid });
    expect((await createClient(plane, alone.key).post("/agent/runs", { prompt: "a", team: true })).status).toBe(400);
  });

  // @contract general.clients.team-header: The active team is named by X-Team-Uid or by X-Warp-Team-Uid.
  // @contract general.team.creates: Without the header, a create of a caller in several teams is 400 and names X-Team-Uid.
  it("requires a team from a caller in several teams", async () => {
    const plane = await createTestControlPlane();
    const { key } = await plane.person("Mia", [plane.team, plane.otherTeam]);
    const mia = createClient(plane, key);
    const unnamed = await mia.post("/agent/runs", { prompt: "a" });
    expect(unnamed).toMatchObject({ status: 400, body: { errors: [{ path: "X-Team-Uid" }] } });
    for (const name of ["x-team-uid", "x-warp-team-uid"]) {
      const named = await mia.post("/agent/runs", { prompt: "a" }, { headers: { [name]: plane.otherTeam } });
      expect((await mia.get(`/agent/runs/${named.body.run_id}`)).body.scope.uid).toBe(plane.otherTeam);
    }
  });

  // @contract general.team.default-agent: An agent key creates only team runs; team: false is 400.
  // @contract general.creator.principal: The caller that creates a run is its creator; with an agent key that is its identity, as a service_account.
  // @contract general.executor.identity
  // @contract runs.item.profiles
  it("creates only team runs with an agent key, whose identity is creator and executor", async () => {
    const plane = await createTestControlPlane();
    const { uid, key } = await plane.agent();
    const builder = createClient(plane, key);
    const { body } = await builder.post("/agent/runs", { prompt: "a" });
    const profile = { type: "service_account", uid, display_name: "builder" };
    expect((await builder.get(`/agent/runs/${body.run_id}`)).body).toMatchObject({
      creator: profile,
      executor: profile,
      scope: { uid: plane.team },
    });
    expect(await builder.post("/agent/runs", { prompt: "a", team: false })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "team" }] },
    });
    expect((await builder.post("/agent/runs", { prompt: "a", on_behalf_of: "ada@runyard.test" })).status).toBe(403);
  });

  // @contract runs.source.headers
  // @contract runs.source.default: An absent or unknown source counts as API.
  // @contract runs.source.own: No caller can set SCHEDULED_AGENT or ORCHESTRATION: the service does.
  it("records an unknown or reserved source as API", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    for (const [stated, shown] of [
      ["WEB_APP", "WEB_APP"],
      ["SCHEDULED_AGENT", "API"],
      ["ORCHESTRATION", "API"],
      ["FAX", "API"],
    ]) {
      const { body } = await user.post("/agent/runs", { prompt: "a" }, { headers: { "x-run-source": stated ?? "" } });
      expect((await user.get(`/agent/runs/${body.run_id}`)).body.source).toBe(shown);
    }
  });
});

describe("POST /agent/runs by a run's key", () => {
  // @contract general.run-key.descendants: A run's key creates, reads, follows up and cancels descendants of its run.
  // @contract runs.config.child-metadata: A child inherits the metadata entries that it does not set.
  // @contract runs.item.parent: parent_run_id names the parent of a child.
  // @contract runs.source.own
  it("creates children of the run, in its team, with its metadata", async () => {
    const plane = await createTestControlPlane();
    const parent = await workingRun(plane, { prompt: "a", metadata: { a: "1", b: "2" } });
    const created = await parent.client.post("/agent/runs", { prompt: "child", metadata: { b: "3" } });
    expect(created.status).toBe(200);
    const seen = await parent.client.get(`/agent/runs/${created.body.run_id}`);
    expect(seen.body).toMatchObject({
      parent_run_id: parent.run_id,
      source: "ORCHESTRATION",
      metadata: { a: "1", b: "3" },
      creator: { uid: plane.user },
      scope: { uid: plane.team },
    });
    const child = createHarness(plane, await plane.dispatch(created.body.run_id));
    await child.resolve();
    const grandchild = await child.client.post("/agent/runs", { prompt: "grandchild" });
    expect(
      (await parent.client.get(`/agent/runs/${grandchild.body.run_id}`)).status,
      "it can read its descendants",
    ).toBe(200);
    const below = { prompt: "a", parent_run_id: grandchild.body.run_id };
    const named = await parent.client.post("/agent/runs", below);
    expect((await parent.client.get(`/agent/runs/${named.body.run_id}`)).body).toMatchObject({
      parent_run_id: grandchild.body.run_id,
    });
    const other = await createRun(plane);
    expect((await parent.client.post("/agent/runs", { prompt: "a", parent_run_id: other })).status).toBe(400);
    expect(
      (await child.client.post("/agent/runs", { prompt: "a", parent_run_id: parent.run_id })).status,
      "it cannot read its ancestors",
    ).toBe(400);
  });

  // @contract runs.request.depth: Runs nest at most ten deep.
  it("allows ten levels of nesting", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    let id = await createRun(plane);
    for (let depth = 1; depth <= 10; depth++)
      id = await createRun(plane, { prompt: `depth ${depth}`, parent_run_id: id });
    const deeper = await user.post("/agent/runs", { prompt: "a", parent_run_id: id });
    expect(deeper).toMatchObject({ status: 400, body: { errors: [{ path: "parent_run_id" }] } });
  });

  // @contract runs.config.child-metadata
  it("rejects more than 20 metadata keys, including the parent's, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    const listKeys = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${prefix}${index}`, "v"]));
    const parent = await createRun(plane, { prompt: "a", metadata: listKeys("a") });
    const before = structuredClone(plane.table.all());
    const child = await createClient(plane).post("/agent/runs", {
      prompt: "a",
      parent_run_id: parent,
      metadata: listKeys("b"),
    });
    expect(child).toMatchObject({ status: 400, body: { errors: [{ path: "metadata" }] } });
    expect(plane.table.all()).toEqual(before);
    expect(
      (await createClient(plane).post("/agent/runs", { prompt: "a", parent_run_id: parent, metadata: listKeys("a") }))
        .status,
    ).toBe(200);
  });

  it("returns 429 above 100 children", async () => {
    const plane = await createTestControlPlane();
    const parent = await workingRun(plane);
    for (let child = 1; child <= 100; child++) await createRun(plane, { prompt: `child ${child}` }, parent.key);
    const before = structuredClone(plane.table.all());
    const response = await parent.client.post("/agent/runs", { prompt: "one more" });
    expect(response).toMatchObject({ status: 429, body: { error_code: "resource_unavailable" } });
    expect(plane.table.all()).toEqual(before);
    expect((await parent.finish()).status, "the parent continues").toBe(200);
  });
});

describe("the name of a run that starts from a skill", () => {
  it("is the skill's name, up to 256 characters, and lists show the run", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { body } = await user.post("/agent/runs", { skill: `acme/shop:${"é".repeat(250)}` });
    expect((await user.get(`/agent/runs/${body.run_id}`)).body.agent_config.name).toBe("é".repeat(250));
    const longest = await user.post("/agent/runs", { skill: `0:${"0".repeat(510)}` });
    expect((await user.get(`/agent/runs/${longest.body.run_id}`)).body.agent_config.name).toBe("0".repeat(256));
    expect((await user.get("/agent/runs")).body.runs).toHaveLength(2);
  });
});

describe("POST /agent/runs with conversation_id", () => {
  // @contract runs.request.prompt-required
  // @contract runs.request.conversation: conversation_id continues a conversation.
  // @contract runs.item.conversation
  // @contract runs.conversation.404: It is 404 if it does not exist.
  it("continues the conversation with all of its messages", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane, { prompt: "one" });
    await first.messages(1, "answer one");
    await first.finish();
    const second = await startedRun(plane, { prompt: "two", conversation_id: first.run_id });
    expect((await second.resolve()).body.context).toMatchObject({
      conversation_id: first.run_id,
      next_sequence: 1,
      messages: [
        { role: "user", content: [{ text: "one" }] },
        { role: "assistant", content: [{ text: "answer one" }] },
      ],
    });
    await second.messages(1, "answer two");
    await second.finish();
    const third = await user.post("/agent/runs", { conversation_id: first.run_id });
    expect(third.status, "without its own prompt").toBe(200);
    const { steps } = (await user.get(`/agent/conversations/${first.run_id}`)).body;
    expect(
      steps.flatMap(({ messages }: { messages: { content: { text: string }[] }[] }) =>
        messages.map(({ content }) => content[0]?.text),
      ),
    ).toEqual(["one", "answer one", "two", "answer two"]);
    expect((await user.get(`/agent/runs/${second.run_id}`)).body.conversation_id).toBe(first.run_id);
    expect(
      (await user.get(`/agent/conversations/${second.run_id}`)).status,
      "a conversation has the id of its first run",
    ).toBe(404);
  });

  it("returns the created run to a repeated request", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await first.finish();
    const create = (headers: Record<string, string>) =>
      user.post("/agent/runs", { prompt: "two", conversation_id: first.run_id }, { headers });
    const created = await create({ "idempotency-key": "k" });
    const again = await create({ "idempotency-key": "k" });
    expect(again).toMatchObject({ status: 200, body: { run_id: created.body.run_id } });
    expect(again.headers["idempotent-replay"]).toBe("true");
  });

  // @contract runs.idempotency.first: A repeated request gets the first response, whatever has become of the run.
  it("returns the first response to a repeated request, whatever has become of the run", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const create = (key: string) => user.post("/agent/runs", { prompt: key }, { headers: { "idempotency-key": key } });
    const first = await create("one");
    await deliver(plane);
    const waiting = await create("two");
    expect([first.body.at_capacity, waiting.body.at_capacity]).toEqual([undefined, true]);
    for (const { body } of [first, waiting]) await user.post(`/agent/runs/${body.run_id}/cancel?force=true`);
    for (const [key, response] of [
      ["one", first],
      ["two", waiting],
    ] as const) {
      const again = await create(key);
      expect([again.status, again.body, again.headers["idempotent-replay"]]).toEqual([200, response.body, "true"]);
    }
    const { body: schedule } = await user.post("/agent/schedules", { name: "n", cron_schedule: "@daily", prompt: "x" });
    const run = () =>
      user.post(`/agent/schedules/${schedule.id}/run`, undefined, { headers: { "idempotency-key": "run" } });
    const started = await run();
    await user.post(`/agent/runs/${started.body.run_id}/cancel`);
    expect((await run()).body).toEqual(started.body);
  });

  it("lets one of several concurrent continuations succeed", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.finish();
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        createClient(plane).post("/agent/runs", { prompt: `${index}`, conversation_id: first.run_id }),
      ),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
  });

  it("hides the runs of other callers in a child's conversation from the key of the parent", async () => {
    const plane = await createTestControlPlane();
    const parent = await workingRun(plane);
    const { body } = await parent.client.post("/agent/runs", { prompt: "for the parent" });
    await createHarness(plane, await plane.dispatch(body.run_id)).finish();
    await createRun(plane, { prompt: "for the user", conversation_id: body.run_id });
    const path = `/agent/conversations/${body.run_id}`;
    const seen = await parent.client.get(path);
    expect(seen.status).toBe(200);
    expect(JSON.stringify(seen.body)).toContain("for the parent");
    expect(JSON.stringify(seen.body)).not.toContain("for the user");
    expect(JSON.stringify((await createClient(plane).get(path)).body)).toContain("for the user");
  });

  it("reads a conversation of sixty runs", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane, { prompt: "run 0" });
    await first.finish();
    plane.clock.now += 1;
    for (let number = 1; number < 60; number++) {
      const id = await createRun(plane, { prompt: `run ${number}`, conversation_id: first.run_id });
      await user.post(`/agent/runs/${id}/cancel`);
      plane.clock.now += 1;
    }
    const conversation = await user.get(`/agent/conversations/${first.run_id}`);
    expect(conversation.status).toBe(200);
    expect(conversation.body.steps).toHaveLength(60);
    expect(conversation.body.steps[59].messages[0].content[0].text).toBe("run 59");
  });
});

describe("the transaction of a new run", () => {
  it("writes head, body, first event, record, counter and the caller's token, each with its version", async () => {
    const plane = await createTestControlPlane();
    const before = plane.table.all().length;
    const id = await createRun(plane);
    const items = plane.table.all().slice(before);
    const names = ["BODY", "COUNTERS", "EVENT#0000000001", "HEAD", "IDEM", "MINUTE#0029652180"];
    expect(items.map(({ sk }) => sk).toSorted()).toEqual(names);
    for (const item of items) if (item.sk !== "COUNTERS") expect(item["v"], item.sk).toBe(1);
    const head = await plane.table.get(keys.head(id));
    expect(Buffer.byteLength(JSON.stringify(head)), "a head is small").toBeLessThan(1_536);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(plane.sent).toEqual([{ queue: "runs", runId: id }]);
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${randomUUID()}`)).status).toBe(404);
  });
});
