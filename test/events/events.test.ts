import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from "vitest";
import { routes } from "#infra/routes.ts";
import { fillFixture, PLACEHOLDERS } from "../../emulator/event-fixture.ts";
import { expectations, type Outcome } from "./expectations.ts";
import { findTarget, fixtures, isBad, readText, targets, toKind } from "./fixtures.ts";
import { BusEvent, HttpEvent, QueueEvent, SocketEvent, StreamEvent, UrlEvent } from "./shapes.ts";
import { makeStage } from "./stage.ts";

const shapes: Readonly<Record<string, v.GenericSchema>> = {
  http: HttpEvent,
  url: UrlEvent,
  socket: SocketEvent,
  sqs: QueueEvent,
  stream: StreamEvent,
  scheduler: BusEvent,
};

/** The log of the functions, which is printed only if a test fails. */
const logged: string[] = [];

beforeAll(() => {
  vi.stubEnv("MODEL_PROVIDERS", "anthropic");
  vi.spyOn(process.stdout, "write").mockImplementation((line) => logged.push(String(line)) > 0);
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("events/", () => {
  it("has an expectation for each fixture, and no others", () => {
    expect(Object.keys(expectations).sort()).toEqual(fixtures);
  });

  it("has a good and a bad fixture for each function and each kind of its events", () => {
    const wanted = [...targets.values()].flatMap(({ name, kinds }) => kinds.map((kind) => ({ name, kind })));
    const missing = wanted.filter(({ name, kind }) => {
      const own = fixtures.filter((fixture) => toKind(fixture) === kind && findTarget(fixture).name === name);
      return !own.some(isBad) || own.every(isBad);
    });
    expect(missing).toEqual([]);
  });

  it("marks exactly the refused fixtures as bad", () => {
    // The fallback refuses every request.
    const others = Object.entries(expectations).filter(([fixture]) => findTarget(fixture).name !== "not-found");
    expect(others.filter(([fixture, { outcome }]) => isBad(fixture) !== isRefusal(outcome))).toEqual([]);
  });

  it("has fixtures only of events that invoke their function", () => {
    expect(fixtures.filter((fixture) => !findTarget(fixture).kinds.includes(toKind(fixture)))).toEqual([]);
  });
});

describe.each([...targets.values()])("events for $name", ({ name }) => {
  it.each(fixtures.filter((fixture) => findTarget(fixture).name === name))("%s", async (fixture) => {
    logged.length = 0;
    onTestFailed(() => console.error(logged.join("")));
    const stage = await makeStage();
    const { after = [], outcome, leaves } = expectations[fixture] ?? {};
    for (const earlier of after)
      expect([earlier, await stage.play(earlier)]).toEqual([earlier, expectations[earlier]?.outcome]);
    const before = stage.contents();
    expect(await stage.play(fixture)).toEqual(matching(outcome));
    if (isBad(fixture)) expect(stage.contents()).toEqual(before);
    if (leaves !== undefined) expect(await stage.state()).toBe(leaves);
  });
});

function isRefusal(outcome: Outcome): boolean {
  if ("status" in outcome) return outcome.status >= 400;
  if ("failed" in outcome) return outcome.failed.length > 0;
  return "throws" in outcome;
}

/** Matches an error if its message contains the expected text. */
function matching(outcome: Outcome | undefined): unknown {
  return outcome !== undefined && "throws" in outcome ? { throws: expect.stringContaining(outcome.throws) } : outcome;
}

describe("each fixture", () => {
  const shaped = fixtures.filter((fixture) => toKind(fixture) !== "invocation");
  it.each(shaped)("has the shape that AWS sends: %s", (fixture) => {
    const shape = shapes[toKind(fixture)] ?? v.never();
    expect(v.safeParse(shape, JSON.parse(readText(fixture))).issues?.map(formatIssue) ?? []).toEqual([]);
    const values = Object.fromEntries(PLACEHOLDERS.map((name) => [name, `the ${name} of a run`]));
    expect(v.safeParse(shape, fillFixture(readText(fixture), values)).issues?.map(formatIssue) ?? []).toEqual([]);
  });

  it("uses a route of its function, and each route has a good one", () => {
    const keys = new Map(
      fixtures.filter((fixture) => toKind(fixture) === "http").map((fixture) => [fixture, toRouteKey(fixture)]),
    );
    const lines = routes.map(({ method, path, file }) => ({
      file,
      key: method === "ANY" ? "$default" : `${method} /api/v1${path}`,
    }));
    const wrong = [...keys].filter(
      ([fixture, key]) => !lines.some((line) => line.key === key && line.file === findTarget(fixture).file),
    );
    expect(wrong).toEqual([]);
    const good = new Set([...keys].filter(([fixture]) => !isBad(fixture)).map(([, key]) => key));
    expect(lines.filter(({ key }) => !good.has(key))).toEqual([]);
  });
});

function formatIssue(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? ""}: ${issue.message}`;
}

function toRouteKey(fixture: string): string {
  return v.parse(v.looseObject({ routeKey: v.string() }), JSON.parse(readText(fixture))).routeKey;
}

describe("fillFixture", () => {
  it("sets length and checksum to those of the sent body", () => {
    const id = "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48";
    const message = { Records: [{ body: "run {{run_id}}", md5OfBody: "as written" }] };
    expect(fillFixture(JSON.stringify(message), { run_id: id })).toEqual({
      Records: [{ body: `run ${id}`, md5OfBody: "9332422b8e3eb2d08f3e1fdb88c5674b" }],
    });
    const request = { headers: { "content-length": "0" }, body: "é {{run_id}}", isBase64Encoded: false };
    expect(fillFixture(JSON.stringify(request), { run_id: id })).toMatchObject({ headers: { "content-length": "39" } });
  });

  it("names placeholders without a value, and unknown placeholders", () => {
    expect(() => fillFixture('["{{run_id}}", "{{run_key}}"]', { run_id: "1" })).toThrow("{{run_key}}");
    expect(() => fillFixture('["{{run-id}}"]', {})).toThrow("{{run-id}} is not a placeholder");
  });
});
