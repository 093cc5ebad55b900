import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultServer } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { api } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

const EVENT = {
  id: "e1",
  at: "2026-05-18T19:00:00.000Z",
  actor: { type: "user", uid: "u1", email: "ada@runyard.test" },
  via: "key",
  key_suffix: "wxyz",
  action: "keys.delete",
  target: { type: "key", uid: "k1", name: "laptop" },
  request_id: "r1",
};
const page = (events: readonly object[], next?: string) =>
  api({
    events,
    page_info: { has_next_page: next !== undefined, ...(next === undefined ? {} : { next_cursor: next }) },
  });

describe("runyard audit list", () => {
  it("prints a table, and says what was refused and if there is more", async () => {
    server.play([page([EVENT, { ...EVENT, via: "session", key_suffix: undefined, refused: true }], "c1")]);
    const { out, err } = await run(["audit", "list"]);
    expect(out).toBe(
      [
        "TIME                  ACTOR             VIA        ACTION                 TARGET",
        "2026-05-18 19:00:00Z  ada@runyard.test  key …wxyz  keys.delete            key laptop",
        "2026-05-18 19:00:00Z  ada@runyard.test  session    keys.delete (refused)  key laptop",
        "",
      ].join("\n"),
    );
    expect(err).toBe("There are more: use --all to list them.\n");
  });

  it("says that there is more after a page without events", async () => {
    server.play([page([], "c1")]);
    const { err } = await run(["audit", "list", "--action", "secrets"]);
    expect(err).toBe("There are no such events here.\nThere are more: use --all to list them.\n");
  });

  it("sends every filter in the API's format", async () => {
    server.play([page([])]);
    const args = "--from 2026-05-18T00:00Z --to 2026-05-19T00:00Z --actor u1 --action keys --target k1 --limit 5";
    await run(["audit", "list", ...args.split(" ")]);
    expect(server.seen.map(({ path }) => path)).toEqual(["/agent/audit"]);
    expect(Object.fromEntries(new URLSearchParams(server.seen[0]?.rawQuery))).toEqual({
      from: "2026-05-18T00:00:00.000Z",
      to: "2026-05-19T00:00:00.000Z",
      actor: "u1",
      action: "keys",
      target: "k1",
      limit: "5",
    });
  });
});

describe("runyard audit export", () => {
  // @contract audit.export: runyard audit export writes the events as JSON Lines.
  it("prints the events of every page as JSON Lines", async () => {
    server.play([page([EVENT], "c1"), page([], "c2"), page([{ ...EVENT, id: "e2" }])]);
    const { out, code } = await run(["audit", "export", "--from", "2026-05-18T00:00Z"]);
    expect(code).toBe(0);
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([EVENT, { ...EVENT, id: "e2" }]);
  });
});
