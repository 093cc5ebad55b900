import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findValues } from "../../emulator/fixture-values.ts";
import type { LocalFile } from "../../emulator/local-file.ts";

const time = "2026-05-18T19:00:00.000Z";
const run = (id: string, more: Record<string, unknown> = {}) => ({
  run_id: id,
  root_run_id: id,
  task_id: id,
  title: "Say hello",
  state: "SUCCEEDED",
  prompt: "Say hello",
  created_at: time,
  updated_at: time,
  finished_at: time,
  archived: false,
  pending_followups: 0,
  conversation_id: `conversation of ${id}`,
  ...more,
});
const file = { filepath: "a.txt", filename: "a.txt", mime_type: "text/plain" };
const artifacts = ["first", "last"].map((uid) => ({
  artifact_type: "FILE",
  created_at: time,
  data: { artifact_uid: uid, ...file },
}));
const event = (more: Record<string, unknown>) => ({ event_uuid: "e", run_id: "new", occurred_at: time, ...more });

let responses: Record<string, unknown>;
const server = createServer((request, response) => {
  const body = responses[request.url ?? ""];
  response.writeHead(body === undefined ? 404 : 200).end(JSON.stringify(body ?? { error: "there is no such run" }));
});
let local: LocalFile;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const common = {
    api_key: "ryp_local",
    team_uid: "a team",
    emulator_url: "http://127.0.0.1:1",
    emulator_key: "",
    pid: 1,
  };
  local = { base_url: `http://127.0.0.1:${port}/api/v1`, ...common };
  responses = {
    "/api/v1/agent/runs?limit=1&sort_by=created_at": { runs: [run("new")], page_info: { has_next_page: true } },
    "/api/v1/agent/runs/old": run("old", { artifacts }),
    "/api/v1/agent/runs/new/timeline": {
      events: [
        event({ event_type: "run_created" }),
        event({ event_type: "run_pending", execution_id: "lost" }),
        event({ event_type: "run_pending", execution_id: "present" }),
        event({ event_type: "run_succeeded" }),
      ],
    },
  };
});
afterAll(() => server.close());

describe("npm run invoke", () => {
  it("uses the values in the local cloud's file without requests", async () => {
    const values = await findValues(["api_key", "team_uid", "base_url"], {}, { ...local, base_url: "http://nowhere" });
    expect(values).toEqual({ api_key: "ryp_local", team_uid: "a team", base_url: "http://nowhere" });
  });

  it("uses the latest run, its last execution and its conversation", async () => {
    expect(await findValues(["run_id", "execution_id", "conversation_id"], {}, local)).toMatchObject({
      run_id: "new",
      execution_id: "present",
      conversation_id: "conversation of new",
    });
  });

  it("prefers the named run and the given values", async () => {
    const given = { run_id: "old", conversation_id: "mine", api_key: "ryp_other" };
    expect(await findValues(["api_key", "run_id", "conversation_id", "artifact_uid"], given, local)).toMatchObject({
      ...given,
      artifact_uid: "last",
    });
  });

  it("prints the remedy if there is no run, no artifact, or no key of a run", async () => {
    await expect(findValues(["artifact_uid"], {}, local)).rejects.toThrow("Run new has no artifact");
    await expect(findValues(["run_key"], {}, local)).rejects.toThrow("--run-key KEY");
    responses["/api/v1/agent/runs?limit=1&sort_by=created_at"] = { runs: [], page_info: { has_next_page: false } };
    await expect(findValues(["run_id"], {}, local)).rejects.toThrow("create-run events/http/create-run.json");
  });
});
