import { homedir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { servePaths } from "#server/command/local-state.ts";
import { defaultConcurrency, parseOptions } from "#server/command/options.ts";
import { checkoutProgram, packageProgram } from "#server/command/program.ts";
import { parseFlags, parseInteger, UsageError } from "#server/command/usage.ts";
import { localUrl } from "#server/server.ts";
import { readSignInIssuer } from "#server/sign-in-issuer.ts";
import { toSocketUrl } from "#server/sockets/socket-url.ts";

const DEFAULTS = {
  port: undefined,
  host: "127.0.0.1",
  url: undefined,
  data: undefined,
  detach: false,
  once: false,
  sample: true,
  sandbox: true,
  concurrency: expect.any(Number),
  maxDiskBytes: undefined,
  repo: undefined,
  runTests: false,
  oidcIssuer: undefined,
  oidcClientId: undefined,
};

describe("the options of serve", () => {
  it("have these defaults, and a service executes no sample run", () => {
    expect(parseOptions([])).toEqual(DEFAULTS);
    expect(parseOptions([], true)).toEqual({ ...DEFAULTS, sample: false });
  });

  it.each([
    [0.5, 4],
    [4, 8],
    [24, 48],
    [256, 64],
  ])("let a machine of %d GiB execute %d runs at the same time", (gib, runs) => {
    expect(defaultConcurrency(gib * 1024 ** 3)).toBe(runs);
  });

  it.each<[string[], object]>([
    [["--port", "65535"], { port: 65_535 }],
    [["--host", "0.0.0.0"], { host: "0.0.0.0" }],
    [["--url", "http://a.example:8080"], { url: "http://a.example:8080" }],
    [["--data", "dir"], { data: "dir" }],
    [["--detach"], { detach: true }],
    [["--once"], { once: true }],
    [["--no-sample"], { sample: false }],
    [["--no-sandbox"], { sandbox: false }],
    [["--concurrency", "1000"], { concurrency: 1_000 }],
    [["--max-disk", "50GB"], { maxDiskBytes: 50_000_000_000 }],
    [["--repo", "https://git.example/a"], { repo: "https://git.example/a" }],
    [["--run-tests"], { runTests: true }],
    [["--oidc-issuer", "https://i.example"], { oidcIssuer: "https://i.example" }],
    [["--oidc-client-id", "web"], { oidcClientId: "web" }],
  ])("are parsed: %j", (args, expected) => {
    expect(parseOptions(args)).toEqual({ ...DEFAULTS, ...expected });
  });

  it.each<[string[], boolean]>([
    [["--sample"], true],
    [["--once"], true],
    [["--no-sample"], false],
  ])("of a service request the sample run with %j: %s", (args, sample) => {
    expect(parseOptions(args, true)?.sample).toBe(sample);
  });

  it.each<[string[], string]>([
    [["--once", "--detach"], "--once cannot be combined with --detach."],
    [["--concurrency", "1001"], "--concurrency takes a number from 1 to 1000"],
    [["--port", "65536"], "--port takes a number from 1 to 65535"],
    [["--max-disk", "50"], '--max-disk takes a size such as 500MB or 50GB, not "50"'],
    [["--url", "https://a.example?x=1"], "--url takes an address"],
    [["--url", "https://a.example#x"], "--url takes an address"],
    [["--url", "ftp://a.example"], "--url takes an address"],
  ])("are refused: %j", (args, message) => {
    expect(() => parseOptions(args)).toThrow(UsageError);
    expect(() => parseOptions(args)).toThrow(message);
  });
});

describe("parseInteger", () => {
  it.each([
    ["1", 1],
    ["10", 10],
    [undefined, undefined],
  ])("parses %o as %o", (value, number) => expect(parseInteger("--n", value, 10)).toBe(number));

  it.each(["0", "11", "-1", "1.5", "", "x"])("refuses %o", (value) => {
    expect(() => parseInteger("--n", value, 10)).toThrow(`--n takes a number from 1 to 10, not "${value}"`);
  });
});

describe("parseFlags", () => {
  it("accepts up to the given number of words, and names the first extra one", () => {
    expect(parseFlags(["to"], {}, 1).positionals).toEqual(["to"]);
    expect(() => parseFlags(["to", "from"], {}, 1)).toThrow('Unexpected argument "from".');
    expect(() => parseFlags(["to"], {})).toThrow('Unexpected argument "to".');
  });

  it("says what is wrong, without Node's advice on words", () => {
    expect(() => parseFlags(["--port"], {})).toThrow(/^Unknown option '--port'\.$/);
  });
});

describe("the places of an installation", () => {
  it("are below the home of the program, or in the directory that --data names", () => {
    expect(servePaths("/home/.runyard", undefined)).toEqual({
      data: "/home/.runyard/data",
      localFile: "/home/.runyard/local.json",
      log: "/home/.runyard/data/logs/server.log",
      consoleLog: "/home/.runyard/data/logs/console.log",
    });
    const own = path.resolve("own");
    expect(servePaths("/home/.runyard", "own")).toEqual({
      data: own,
      localFile: `${own}/local.json`,
      log: `${own}/logs/server.log`,
      consoleLog: `${own}/logs/console.log`,
    });
  });

  it("of the package are in the home of the user, unless RUNYARD_STATE names another directory", () => {
    expect(packageProgram({ HOME: "/home/ada" }).home).toBe("/home/ada/.runyard");
    expect(packageProgram({}).home).toBe(path.join(homedir(), ".runyard"));
    expect(packageProgram({ HOME: "/home/ada", RUNYARD_STATE: "state" }).home).toBe(path.resolve("state"));
    expect(checkoutProgram({ RUNYARD_STATE: "/state" }).home).toBe("/state");
  });

  it("belong to a service that isolates runs, or to a checkout that serves by default", () => {
    expect([packageProgram({}).isService, packageProgram({}).defaultCommand]).toEqual([true, undefined]);
    expect([checkoutProgram({}).isService, checkoutProgram({}).defaultCommand]).toEqual([false, "serve"]);
  });
});

describe("the address of a server", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:4500"],
    ["0.0.0.0", "http://127.0.0.1:4500"],
    ["::", "http://[::1]:4500"],
    ["2001:db8::1", "http://[2001:db8::1]:4500"],
    ["host.example", "http://host.example:4500"],
  ])("that listens on %s is %s on this machine", (host, url) => expect(localUrl(host, 4_500)).toBe(url));

  it("for workers is a WebSocket, with TLS where the server has it", () => {
    expect(toSocketUrl("http://127.0.0.1:4500")).toBe("ws://127.0.0.1:4500/workers");
    expect(toSocketUrl("https://a.example")).toBe("wss://a.example/workers");
  });
});

describe("the issuer by which people sign in", () => {
  const settings = { RUNYARD_OIDC_ISSUER: "https://i.example", RUNYARD_OIDC_CLIENT_ID: "web" };

  it("has the secret of its client, if there is one", async () => {
    const withSecret = readSignInIssuer({ ...settings, RUNYARD_OIDC_CLIENT_SECRET: "secret" });
    expect([await withSecret?.clientSecret(), await readSignInIssuer(settings)?.clientSecret()]).toEqual([
      "secret",
      undefined,
    ]);
  });
});
