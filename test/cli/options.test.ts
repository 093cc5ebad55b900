import { afterEach, describe, expect, it, vi } from "vitest";
import { isOnThisMachine, tidy } from "../../cli/src/connection.ts";
import { date, listScopes, pairs, parseNumber, runSource, scopes, time, wholeNumber } from "../../cli/src/options.ts";

afterEach(() => vi.unstubAllEnvs());

describe("an option", () => {
  it("is a whole number within its bounds", () => {
    const parse = wholeNumber(1, 500);
    expect([parse("1"), parse("500")]).toEqual([1, 500]);
    for (const text of ["0", "501", "1.5", "-1", "1e2", ""]) expect(() => parse(text)).toThrow("from 1 to 500");
  });

  it("is a number", () => {
    expect(["2.5", "-1"].map(parseNumber)).toEqual([2.5, -1]);
    for (const text of ["", " ", "x", "1e999"]) expect(() => parseNumber(text)).toThrow("must be a number");
  });

  it("is one of the scopes, and may be repeated", () => {
    expect(scopes("runs:write", scopes("runs:read"))).toEqual(["runs:read", "runs:write"]);
    expect(() => scopes("runs")).toThrow("Allowed choices are runs:read, runs:write,");
    expect([listScopes(["runs:read", "keys"]), listScopes(undefined)]).toEqual(["runs:read keys", "all"]);
  });

  it("is a time, a date or an age", () => {
    expect([time("2026-05-18"), date("2027-01-01T12:00Z")]).toEqual([
      "2026-05-18T00:00:00.000Z",
      "2027-01-01T12:00:00.000Z",
    ]);
    for (const [age, milliseconds] of [
      ["90m", 5_400_000],
      ["24h", 86_400_000],
      ["7d", 604_800_000],
    ] as const) {
      const before = Date.now();
      const at = Date.parse(time(age)) + milliseconds;
      expect(at >= before && at <= Date.now()).toBe(true);
    }
    for (const text of ["x", "7w", "7 d", "d", "5", "2026-02-30", "9999999d", "2026-05-18T25:00"])
      expect(() => time(text)).toThrow("an age such as");
    expect(() => date("7d")).toThrow("Expected a date");
  });

  it("is a time of UTC, unless it names a zone", () => {
    vi.stubEnv("TZ", "America/New_York");
    expect(["2026-05-18 19:00", "2026-05-18T19:00:30.5+02:00", "2026-05-18t19:00z"].map(time)).toEqual([
      "2026-05-18T19:00:00.000Z",
      "2026-05-18T17:00:30.500Z",
      "2026-05-18T19:00:00.000Z",
    ]);
  });

  it("is a source of runs, in any case", () => {
    expect(runSource("cli")).toBe("CLI");
    expect(() => runSource("foo")).toThrow("Allowed choices are API, CLI, ");
  });

  it("is name=value, and the last of a name counts", () => {
    expect(pairs("a=1", { a: "0", b: "x" })).toEqual({ a: "1", b: "x" });
    expect(pairs("a==")).toEqual({ a: "=" });
    for (const text of ["=1", "a"]) expect(() => pairs(text)).toThrow("Expected name=value.");
  });
});

describe("the address of a service", () => {
  it.each([
    ["http://localhost:1/api/v1", true],
    ["http://[::1]:1", true],
    ["http://127.0.0.1", true],
    ["http://127.1.2.3", true],
    ["http://127.0.0.1.example.com", false],
    ["http://x127.0.0.1", false],
    ["http://localhost.example.com", false],
    ["http://128.0.0.1", false],
    ["nonsense", false],
  ])("%s is on this machine: %s", (url, expected) => expect(isOnThisMachine(url)).toBe(expected));

  it("has no slash at its end, and is one of HTTP", () => {
    expect([tidy("https://x/api/v1//"), tidy("http://x"), tidy(undefined)]).toEqual([
      "https://x/api/v1",
      "http://x",
      undefined,
    ]);
    for (const url of ["ftp://x", "file:///x", "x", "xhttp://x"]) expect(() => tidy(url)).toThrow("is not a URL");
  });
});
