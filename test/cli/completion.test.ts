import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultServer } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { api } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

/** The name of the second has to be quoted in a shell, so its uid is offered. */
const ENVIRONMENTS = [
  { uid: "uid-1", config: { name: "api" } },
  { uid: "uid-2", config: { name: "the shop" } },
];

describe("runyard completion", () => {
  it.each([
    [["ru"], ["run", "runs"]],
    [
      ["runs", ""],
      [
        "list",
        "get",
        "follow",
        "followup",
        "followups",
        "approve",
        "deny",
        "interrupt",
        "cancel",
        "archive",
        "unarchive",
        "share",
        "delete",
        "response",
        "conversation",
        "transcript",
        "artifacts",
        "timeline",
        "find",
        "snapshot",
        "attachments",
        "diff",
        "open-pr",
      ],
    ],
    [["envs", "li"], ["list"]],
    [
      ["runs", "list", "--so"],
      ["--source", "--sort"],
    ],
    [
      ["runs", "list", "--sort", ""],
      ["updated_at", "created_at", "title", "agent"],
    ],
    [["run", "x", "--js"], ["--json"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [
      ["agents", "keys", ""],
      ["list", "create", "delete"],
    ],
  ])("completes %j", async (words, expected) => {
    expect((await run(["__complete", "--", ...words])).out.trimEnd().split("\n")).toEqual(expected);
  });

  it("prints a script for each shell, and is not part of the help", async () => {
    for (const shell of ["bash", "zsh", "fish"])
      expect((await run(["completion", shell])).out).toContain("runyard __complete --");
    expect((await run(["--help"])).out).not.toContain("__complete");
  });

  it.each([
    [["runs", "get", ""], { runs: [{ run_id: "r1" }, { run_id: "r2" }] }, ["r1", "r2"], "/agent/runs?limit=100"],
    [["runs", "cancel", "r1", "r"], { runs: [{ run_id: "r2" }] }, ["r2"], "/agent/runs?limit=100"],
    [["run", "--env", "a"], { environments: ENVIRONMENTS }, ["api"], "/agent/environments"],
    [["environments", "get", ""], { environments: ENVIRONMENTS }, ["api", "uid-2"], "/agent/environments"],
    [["run", "fix it", "--model", ""], { models: [{ id: "m/1" }] }, ["m/1"], "/agent/models"],
    [["triggers", "get", ""], { triggers: [{ uid: "t1", name: "mentions" }] }, ["t1"], "/agent/triggers"],
  ])("completes %j with what the service has", async (words, response, expected, request) => {
    server.play([api({ ...response, page_info: { has_next_page: false } })]);
    const { out, err } = await run(["__complete", "--", ...words]);
    expect([
      out.trimEnd().split("\n"),
      err,
      server.seen.map(({ path, rawQuery }) => `${path}${rawQuery && `?${rawQuery}`}`),
    ]).toEqual([expected, "", [request]]);
  });

  it("prints nothing where the service refuses, and after all arguments of a command", async () => {
    server.play([api({}, { status: 503 })]);
    expect(await run(["__complete", "--", "runs", "get", ""])).toMatchObject({ code: 0, out: "", err: "" });
    server.play([]);
    expect((await run(["__complete", "--", "runs", "get", "r1", ""])).out).toBe("");
  });

  it("does not offer the caller's own keys as keys of an agent", async () => {
    server.play([]);
    expect((await run(["__complete", "--", "agents", "keys", "delete", "bot", ""])).out).toBe("");
    expect(server.seen).toEqual([]);
  });
});
