import { describe, expect, it } from "vitest";
import {
  clearSessionCookie,
  readSessionCookie,
  refuseForeignOrigin,
  storeSessionCookie,
} from "#shared/http/session-cookie.ts";

describe("session cookies", () => {
  const secure = { baseUrl: "https://api.test/api/v1", webUrl: "https://web.test/app" };
  const plain = { baseUrl: "http://lan:4500/api/v1", webUrl: undefined };
  const reader = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name];

  it.each([
    [{ cookie: "a=1; __Host-runyard=x; b=2" }, secure, "x"],
    [{ cookie: "__Host-runyard=x=y;runyard=z" }, secure, "x=y"],
    [{ cookie: "runyard=z", host: "api.test" }, secure, undefined],
    [{ cookie: "runyard=z" }, secure, undefined],
    [{ cookie: "runyard=z", host: "localhost:4500" }, secure, "z"],
    [{ cookie: "runyard=z", host: "127.0.0.1" }, secure, "z"],
    [{ cookie: "runyard=z", host: "[::1]:80" }, secure, "z"],
    [{ cookie: "runyard=z", host: "localhost.evil.test" }, secure, undefined],
    [{ cookie: "runyard=z", host: "evil.localhost:80" }, secure, undefined],
    [{ cookie: "runyard=z" }, plain, "z"],
    [{ cookie: "myrunyard=z" }, plain, undefined],
    [{}, plain, undefined],
  ])("are read from %j at %j as %j", (headers, origins, token) => {
    expect(readSessionCookie(reader(headers), origins)).toBe(token);
  });

  it("are stored and cleared under the name of the page's protocol", () => {
    const secureCookie = (value: string, age: number) =>
      `__Host-runyard=${value}; Path=/; Max-Age=${age}; HttpOnly; Secure; SameSite=Lax`;
    const plainCookie = (value: string, age: number) =>
      `runyard=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax`;
    for (const [headers, origins, cookie] of [
      [{}, secure, secureCookie],
      [{}, plain, plainCookie],
      [{ origin: "https://web.test" }, plain, secureCookie],
      [{ origin: "http://localhost:1" }, secure, plainCookie],
    ] as const) {
      expect(storeSessionCookie("t", 60, reader(headers), origins)).toBe(cookie("t", 60));
      expect(clearSessionCookie(reader(headers), origins)).toBe(cookie("", 0));
    }
  });

  it.each([
    [{ origin: "https://api.test" }, secure, true],
    [{ origin: "https://web.test" }, secure, true],
    [{ origin: "https://web.test" }, { ...secure, webUrl: undefined }, false],
    [{}, secure, false],
    [{ host: "localhost:1" }, secure, false],
    [{ origin: "https://api.test:444" }, secure, false],
    [{ origin: "http://api.test" }, secure, false],
    [{ origin: "http://localhost:1", host: "localhost:1" }, secure, true],
    [{ origin: "http://localhost:2", host: "localhost:1" }, secure, false],
    [{ origin: "http://evil.test", host: "evil.test" }, secure, false],
  ])("are accepted from a page at %j by %j: %j", (headers, origins, isAccepted) => {
    const accept = () => refuseForeignOrigin(reader(headers), origins);
    if (isAccepted) expect(accept).not.toThrow();
    else
      expect(accept).toThrow(
        expect.objectContaining({ code: "not_authorized", detail: expect.stringMatching(/^Origin: /) }),
      );
  });
});
