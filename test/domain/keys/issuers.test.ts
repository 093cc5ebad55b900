import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { createIssuers, type Issuers } from "#shared/oidc/issuers.ts";
import { BlockedAddress, createOutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { verifyToken } from "#shared/oidc/verify-token.ts";
import { OidcIssuer } from "../../support/oidc-issuer.ts";

const DISCOVERY = "/.well-known/openid-configuration";
let issuer: OidcIssuer;
let now: number;
let issuers: Issuers;
beforeEach(async () => {
  now = Date.parse("2026-05-18T19:00:00.000Z");
  issuer = await OidcIssuer.start();
  issuer.now = () => now;
  issuers = createIssuers({ now: () => now, allowsPrivate: true });
});
afterEach(() => issuer[Symbol.asyncDispose]());

const discoveries = () => issuer.countOf(DISCOVERY);
const refusal = (code: string, detail: RegExp) => ({ code, detail: expect.stringMatching(detail) });

describe("Issuers.read", () => {
  it("reads an issuer's metadata once in ten minutes", async () => {
    const { metadata } = await issuers.read(issuer.url);
    expect(metadata).toEqual({
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`,
      jwks_uri: `${issuer.url}/keys`,
    });
    now += 600_000 - 1;
    await issuers.read(issuer.url);
    expect(discoveries()).toBe(1);
    now += 1;
    await issuers.read(issuer.url);
    expect(discoveries()).toBe(2);
  });

  it("sends one request for concurrent reads", async () => {
    await Promise.all([issuers.read(issuer.url), issuers.read(issuer.url)]);
    expect(discoveries()).toBe(1);
  });

  it("requests an issuer that could not be read again after ten seconds", async () => {
    issuer.failure = 500;
    await expect(issuers.read(issuer.url)).rejects.toMatchObject(refusal("resource_unavailable", /does not respond$/));
    issuer.failure = undefined;
    now += 9_999;
    await expect(issuers.read(issuer.url)).rejects.toThrow(RunyardError);
    expect(discoveries()).toBe(1);
    now += 1;
    expect((await issuers.read(issuer.url)).metadata.issuer).toBe(issuer.url);
  });

  it("keeps the 200 issuers that were read last", async () => {
    await issuers.read(issuer.url);
    const readOthers = async (first: number, last: number) => {
      for (let number = first; number <= last; number++) {
        await expect(issuers.read(`${issuer.url}/${number}`)).rejects.toThrow(RunyardError);
      }
    };
    await readOthers(1, 199);
    await issuers.read(issuer.url);
    expect(discoveries()).toBe(1);
    await readOthers(200, 200);
    await issuers.read(issuer.url);
    expect(discoveries()).toBe(2);
  });

  it("counts an issuer as read last when its metadata is read again", async () => {
    const readOther = (number: number) => expect(issuers.read(`${issuer.url}/${number}`)).rejects.toThrow(RunyardError);
    await issuers.read(issuer.url);
    for (let number = 1; number <= 199; number++) await readOther(number);
    now += 600_000;
    await issuers.read(issuer.url);
    await readOther(200);
    await issuers.read(issuer.url);
    expect(discoveries()).toBe(2);
  });

  it.each([
    ["is not there", { failure: 404 }, /^iss: .* is not the configuration of an OpenID Connect issuer$/],
    ["has no keys", { metadataChanges: { jwks_uri: undefined } }, /is not the configuration/],
    ["has keys at no URL", { metadataChanges: { jwks_uri: "keys" } }, /is not the configuration/],
    ["is another issuer's", { metadataChanges: { issuer: "https://a.example" } }, /of another issuer$/],
  ])("refuses an issuer whose metadata %s", async (_, change, detail) => {
    Object.assign(issuer, change);
    await expect(issuers.read(issuer.url)).rejects.toMatchObject(refusal("not_authorized", detail));
  });

  it("reads the metadata of an issuer whose URL ends in a slash", async () => {
    issuer.metadataChanges = { issuer: `${issuer.url}/` };
    expect((await issuers.read(`${issuer.url}/`)).metadata.issuer).toBe(`${issuer.url}/`);
    expect(issuer.seen.map(({ path }) => path)).toEqual([DISCOVERY]);
  });

  it("refuses a private address, and connects to none, if they are not allowed", async () => {
    const strict = createIssuers({ now: () => now, allowsPrivate: false });
    expect([strict.allowsPrivate, issuers.allowsPrivate]).toEqual([false, true]);
    await expect(strict.read(issuer.url)).rejects.toMatchObject(refusal("not_authorized", /^iss: 127\.0\.0\.1 is not/));
    expect(issuer.seen).toEqual([]);
  });
});

describe("verifyToken", () => {
  const audience = "runyard";
  const refuse = (claim: string, why: string) => new RunyardError("not_authorized", { detail: `${claim}: ${why}` });
  const verifyText = (token: string) => verifyToken(token, { issuer: issuer.url, audience, now, refuse }, issuers);
  const verify = async (claims: Readonly<Record<string, unknown>>) =>
    verifyText(await issuer.sign({ aud: audience, sub: "somebody", ...claims }));
  const seconds = () => Math.floor(now / 1000);

  it("returns the claims, and tolerates a minute between the clocks", async () => {
    expect(await verify({ email: "a@b.test" })).toMatchObject({ iss: issuer.url, sub: "somebody", email: "a@b.test" });
    await expect(verify({ exp: seconds() - 59 })).resolves.toMatchObject({ sub: "somebody" });
    await expect(verify({ exp: seconds() - 60 })).rejects.toMatchObject(refusal("not_authorized", /^exp: /));
    await expect(verify({ nbf: seconds() + 60 })).resolves.toMatchObject({ sub: "somebody" });
    await expect(verify({ nbf: seconds() + 61 })).rejects.toMatchObject(refusal("not_authorized", /^nbf: /));
  });

  it("accepts a subject of 1,024 characters, and refuses a longer and an empty one", async () => {
    const longest = "x".repeat(1024);
    expect((await verify({ sub: longest })).sub).toBe(longest);
    for (const sub of [`${longest}x`, ""]) {
      await expect(verify({ sub })).rejects.toMatchObject(refusal("not_authorized", /^sub: is missing or too long$/));
    }
  });

  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
  it.each([
    ["has two parts", "e30.e30"],
    ["has no header", ".e30.c2ln"],
    ["requires an extension", `${encode({ alg: "RS256", crit: ["new"], new: 1 })}.e30.c2ln`],
  ])("refuses a token that %s", async (_, token) => {
    await expect(verifyText(token)).rejects.toMatchObject(refusal("not_authorized", /^token: is not a signed JWT$/));
  });

  it("requests the keys again for an unknown one, but not within 30 seconds", async () => {
    await verify({});
    await issuer.rotate();
    await expect(verify({})).rejects.toMatchObject(refusal("not_authorized", /^kid: /));
    expect(issuer.countOf("/keys")).toBe(1);
  });

  it("fails with resource_unavailable where the keys cannot be read", async () => {
    await issuers.read(issuer.url);
    issuer.failure = 500;
    await expect(verify({})).rejects.toMatchObject(refusal("resource_unavailable", /does not respond$/));
  });

  it("refuses an issuer whose keys are at a blocked address", async () => {
    issuer.metadataChanges = { jwks_uri: "http://169.254.169.254/keys" };
    await expect(verify({})).rejects.toMatchObject(refusal("not_authorized", /^iss: 169\.254\.169\.254 is not/));
  });
});

describe("createOutwardFetch", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  const serve = async (listener: RequestListener): Promise<number> => {
    const started = createServer(listener);
    server = started;
    await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
    const address = started.address();
    if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
    return address.port;
  };
  const open = createOutwardFetch({ allowsPrivate: true });
  const strict = createOutwardFetch({ allowsPrivate: false });

  it("sends the method, headers and body, and returns status and body", async () => {
    const seen: unknown[] = [];
    const port = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const { accept, authorization } = request.headers;
      seen.push([request.method, request.url, accept, authorization, body]);
      response.writeHead(418).end('{"a":1}');
    });
    const url = `http://127.0.0.1:${port}/x?y=1`;
    const posted = await open(url, { method: "POST", headers: { authorization: "Basic a" }, body: "b=1" });
    expect([posted.status, posted.headers.get("content-type"), await posted.json()]).toEqual([
      418,
      "application/json",
      { a: 1 },
    ]);
    await open(url);
    expect(seen).toEqual([
      ["POST", "/x?y=1", "application/json", "Basic a", "b=1"],
      ["GET", "/x?y=1", "application/json", undefined, ""],
    ]);
  });

  it.each([204, 304])("returns a response with status %i, which has no body", async (status) => {
    const port = await serve((_, response) => void response.writeHead(status).end());
    expect((await open(`http://127.0.0.1:${port}`)).status).toBe(status);
  });

  it.each(["101 Switching Protocols", "999 Denied"])("rejects the response %j", async (line) => {
    const port = await serve(
      (_, response) => void response.socket?.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`),
    );
    await expect(open(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });

  it("follows no redirect", async () => {
    const port = await serve((_, response) => void response.writeHead(302, { location: "/other" }).end());
    expect((await open(`http://127.0.0.1:${port}`)).status).toBe(302);
  });

  it("accepts a response of 256 KiB and rejects a larger one", async () => {
    let bytes = 256 * 1024;
    const port = await serve((_, response) => void response.end("x".repeat(bytes)));
    expect((await (await open(`http://127.0.0.1:${port}`)).text()).length).toBe(bytes);
    bytes += 1;
    await expect(open(`http://127.0.0.1:${port}`)).rejects.toThrow("more than 262144 bytes");
  });

  it("rejects a response that breaks off", async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { "content-length": "10" }).write("half");
      setImmediate(() => response.destroy());
    });
    await expect(open(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });

  it.each([
    "https://127.0.0.1/",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://[fd00::1]/",
    "https://169.254.169.254/",
    "http://1.1.1.1/",
    "ftp://1.1.1.1/",
  ])("blocks %s where private addresses are not allowed", async (url) => {
    await expect(strict(url)).rejects.toThrow(BlockedAddress);
  });

  it.each(["http://169.254.169.254/", "https://[fe80::1]/", "ftp://127.0.0.1/"])(
    "blocks %s even where private addresses are allowed",
    async (url) => {
      await expect(open(url)).rejects.toThrow(BlockedAddress);
    },
  );

  it("checks the addresses that a name resolves to", async () => {
    let requests = 0;
    const port = await serve((_, response) => {
      requests++;
      response.end("{}");
    });
    expect((await open(`http://localhost:${port}/`)).status).toBe(200);
    await expect(strict(`https://localhost:${port}/`)).rejects.toThrow("localhost is not an address on the internet");
    expect(requests).toBe(1);
  });
});
