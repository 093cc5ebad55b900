import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { parseOptions } from "#server/command/options.ts";
import { RotatingLog } from "#server/command/rotating-log.ts";
import { allowedHosts, servesOtherMachines } from "#server/http/allowed-hosts.ts";
import { toApiEvent } from "#server/http/api-event.ts";
import { endpoints } from "#server/http/endpoints.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();

describe("the options of npm start", () => {
  it("listen on loopback, execute the sample run and isolate commands by default", () => {
    expect(parseOptions([])).toMatchObject({
      host: "127.0.0.1",
      url: undefined,
      once: false,
      sample: true,
      sandbox: true,
    });
  });

  it("are parsed", () => {
    const args = ["--port", "80", "--url", "https://a.example/", "--concurrency", "3", "--once", "--no-sandbox"];
    const expected = { port: 80, url: "https://a.example", concurrency: 3, once: true, sandbox: false };
    expect(parseOptions(args)).toMatchObject(expected);
    expect(parseOptions(["--help"])).toBeUndefined();
  });

  it.each([
    [["--port", "0"], "--port takes a number from 1 to 65535"],
    [["--port", "http"], "--port takes a number"],
    [["--concurrency", "1.5"], "--concurrency takes a number"],
    [["--url", "runyard.example.com"], "--url takes an address"],
    [["--url", "https://a.example/path"], "--url takes an address"],
    [["--unknown"], "--unknown"],
    [["word"], "word"],
  ])("are refused if they are not valid: %j", (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});

describe("the check of the Host header", () => {
  it.each([
    ["127.0.0.1:4500", true],
    ["localhost", true],
    ["[::1]:4500", true],
    ["runyard.example.com", true],
    ["RUNYARD.example.com", true],
    ["attacker.example", false],
    ["runyard.example.com.attacker.example", false],
    ["192.0.2.1", false],
    [undefined, false],
  ])("of a server on loopback treats %s as own: %s", (host, isOwn) => {
    expect(allowedHosts("https://runyard.example.com", "127.0.0.1")(host)).toBe(isOwn);
  });

  it("of a server for other machines accepts IP addresses, which no web page can take over", () => {
    const isOwn = allowedHosts("http://127.0.0.1:4500", "0.0.0.0");
    expect([isOwn("192.0.2.1:4500"), isOwn("[2001:db8::1]:4500"), isOwn("attacker.example:4500")]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("a server", () => {
  it.each([
    ["http://127.0.0.1:4500", "127.0.0.1", false],
    ["http://localhost:4500", "localhost", false],
    ["http://[::1]:4500", "[::1]", false],
    ["http://127.0.0.1:4500", "0.0.0.0", true],
    ["https://runyard.example.com", "127.0.0.1", true],
    ["http://127.0.0.1.example.com", "127.0.0.1", true],
  ])("at %s that listens on %s serves other machines: %s", (url, listens, isShared) => {
    expect(servesOtherMachines(url, listens)).toBe(isShared);
  });
});

describe("the endpoints of the server", () => {
  it("are those of the routes", () => {
    const files = routes.map(({ file }) => file).filter((file) => file !== "fallback/not-found");
    expect(Object.keys(endpoints).toSorted()).toEqual([...new Set(files)].toSorted());
  });
});

describe("the event of a request", () => {
  const event = toApiEvent({
    incoming: {
      method: "POST",
      url: "/api/v1/a%2Fb?x=1&y=%20?",
      httpVersion: "1.1",
      rawHeaders: ["Host", "localhost:4500", "X-Same", "1", "x-same", "2", "__proto__", "3"],
      socket: { remoteAddress: "127.0.0.1" },
    },
    body: Buffer.from([0xff, 0x00]),
    routeKey: "POST /api/v1/{id}",
    pathParameters: { id: "a/b" },
  });

  it("has path and query as they were sent", () => {
    expect([event.rawPath, event.rawQueryString]).toEqual(["/api/v1/a%2Fb", "x=1&y=%20?"]);
  });

  it("has headers in lower case, with repeated ones joined", () => {
    expect({ ...event.headers }).toMatchObject({ host: "localhost:4500", "x-same": "1,2" });
  });

  it("has all bytes of the body", () => {
    expect([event.isBase64Encoded, Buffer.from(event.body ?? "", "base64")]).toEqual([true, Buffer.from([0xff, 0x00])]);
  });
});

describe("the log of the server", () => {
  it("is rotated when it is full, and readable by its owner only", () => {
    const directory = data.directory();
    const file = path.join(directory, "logs", "server.log");
    const log = new RotatingLog(file);
    const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 70; count++) {
      log.write(line);
      log.flush();
    }
    log.write("last\n");
    log.flush();
    const names = readdirSync(path.dirname(file)).toSorted();
    expect(names).toEqual(["server.log", "server.log.1", "server.log.2", "server.log.3", "server.log.4"]);
    expect(readFileSync(file, "utf8")).toMatch(/last\n$/);
    for (const name of names) {
      const { mode, size } = statSync(path.join(path.dirname(file), name));
      expect([mode & 0o077, size <= 12 * 1024 * 1024]).toEqual([0, true]);
    }
  });
});
