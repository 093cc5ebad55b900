import { describe, expect, it } from "vitest";
import { isOnThisMachine, tidy } from "../../cli/src/connection.ts";
import { date, pairs, time, wholeNumber } from "../../cli/src/options.ts";

describe("an option", () => {
  it("is a whole number within its bounds", () => {
    const parse = wholeNumber(1, 500);
    expect([parse("1"), parse("500")]).toEqual([1, 500]);
    for (const text of ["0", "501", "1.5", "-1", "1e2", ""]) expect(() => parse(text)).toThrow("from 1 to 500");
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
    for (const text of ["x", "7w", "7 d", "d"]) expect(() => time(text)).toThrow("an age such as");
    expect(() => date("7d")).toThrow("Expected a date");
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
