import { generateKeyPairSync } from "node:crypto";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { DiscoveryFailure } from "#shared/skills/discovery-failure.ts";
import { chooseAccess } from "#shared/skills/github-access.ts";
import { GithubRefusal, requestGithub } from "#shared/skills/github-api.ts";
import { githubApp } from "#shared/skills/github-app.ts";

const NOW = 1_000_000_000;
const API = "https://github.test/api";
const MEBIBYTE = 1024 * 1024;
const schema = v.object({ id: v.number() });

type Responses = readonly (() => Response | Promise<Response>)[];

/** A GitHub that returns these responses in order, and the requests that it received. */
function createGithub(...responses: Responses) {
  const seen: { readonly url: string; readonly init: RequestInit | undefined }[] = [];
  const left = [...responses];
  const api = {
    apiUrl: API,
    now: () => NOW,
    fetch: async (url: string | URL | Request, init?: RequestInit) => {
      seen.push({ url: String(url), init });
      const next = left.shift();
      if (next === undefined) throw new TypeError("fetch failed");
      return next();
    },
  };
  return { api, seen };
}

const refusal =
  (status: number, text: string, headers: Readonly<Record<string, string>> = {}) =>
  () =>
    new Response(text, { status, headers });
const said = (message: string) => JSON.stringify({ message });
const redirect =
  (location: string, status = 301) =>
  () =>
    new Response(null, { status, headers: { location } });
const request = { path: "/x", token: "t", what: "acme/shop" };

const send = (more: object, ...responses: Responses) => {
  const { api, seen } = createGithub(...responses);
  return { result: requestGithub(schema, { ...request, ...more }, api), seen };
};
const failureOf = async (more: object, ...responses: Responses) => {
  const error: unknown = await send(more, ...responses).result.catch((caught: unknown) => caught);
  if (!(error instanceof DiscoveryFailure)) throw error;
  return error;
};

describe("requestGithub", () => {
  it("sends a GET with the API's version, and a POST, a token or a tag only if there is one", async () => {
    const headers = {
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "runyard",
    };
    const sent = { signal: expect.any(AbortSignal), redirect: "manual" };
    const ok = () => Response.json({ id: 1 });
    const plain = send({ token: undefined }, ok);
    expect(await plain.result).toEqual({ changed: true, body: { id: 1 }, url: "" });
    expect(plain.seen).toEqual([{ url: `${API}/x`, init: { ...sent, headers } }]);
    const full = send({ etag: "e", body: { a: 1 } }, () =>
      Response.json({ id: 2 }, { status: 201, headers: { etag: "f" } }),
    );
    expect(await full.result).toEqual({ changed: true, body: { id: 2 }, url: "", etag: "f" });
    expect(full.seen[0]?.init).toEqual({
      ...sent,
      headers: { ...headers, authorization: "Bearer t", "if-none-match": "e", "content-type": "application/json" },
      method: "POST",
      body: '{"a":1}',
    });
  });

  it("returns that nothing has changed, and the result for an empty repository", async () => {
    const unchanged = () => new Response(null, { status: 304, headers: { location: "/y" } });
    expect(await send({ etag: "e" }, unchanged).result).toEqual({ changed: false });
    expect(await send({ ifEmpty: { id: 0 } }, refusal(409, said("empty"))).result).toEqual({
      changed: true,
      body: { id: 0 },
      url: "",
    });
    expect((await failureOf({}, refusal(409, said("empty")))).message).toBe(
      "GitHub could not respond about acme/shop: empty",
    );
  });

  it("follows three redirects within the API, and no other", async () => {
    const ok = () => Response.json({ id: 1 });
    const far = send({}, redirect("/1"), redirect("2", 307), redirect(`${API}/3`, 399), ok);
    expect(await far.result).toMatchObject({ body: { id: 1 } });
    expect(far.seen.map(({ url }) => url)).toEqual([
      `${API}/x`,
      "https://github.test/1",
      "https://github.test/2",
      `${API}/3`,
    ]);
    const elsewhere = "GitHub redirects acme/shop to another address";
    const tooFar = send({}, redirect("/1"), redirect("/2"), redirect("/3"), redirect("/4"), ok);
    await expect(tooFar.result).rejects.toMatchObject({ message: elsewhere });
    expect(tooFar.seen).toHaveLength(4);
    const away = send({}, redirect("https://evil.test/1"), ok);
    await expect(away.result).rejects.toMatchObject({
      message: elsewhere,
      failure: { code: "resource_not_found", retry_at: NOW + 60_000 },
    });
    expect(away.seen).toHaveLength(1);
  });

  it.each([
    [{}, refusal(404, said("Not Found")), "resource_not_found", "its token may not read it"],
    [{ ifHidden: "it is private" }, refusal(451, said("no")), "resource_not_found", "it is private"],
    [{}, refusal(422, said("no")), "resource_not_found", "GitHub shows no acme/shop: there is none, or its token"],
    [{}, refusal(401, said("Bad\nsecond")), "external_authentication_required", "does not accept the token: Bad"],
    [{}, refusal(403, said("no")), "external_authentication_required", "GitHub refuses acme/shop: no"],
  ])("refuses: %j %s", async (more, response, code, message) => {
    const error = await failureOf(more, response);
    expect(error).toBeInstanceOf(GithubRefusal);
    expect(error.failure).toMatchObject({ code, retry_at: NOW + 60_000 });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("second");
  });

  it.each([
    [refusal(500, said("x".repeat(300))), `GitHub could not respond about acme/shop: ${"x".repeat(200)}`],
    [refusal(503, "<html>"), "GitHub could not respond about acme/shop: status 503"],
    [refusal(302, said("no location")), "GitHub could not respond about acme/shop: no location"],
    [() => new Response("no JSON"), "GitHub's response about acme/shop is not as documented"],
    [() => Response.json({ id: "1" }), "GitHub's response about acme/shop is not as documented"],
    [() => new Response(null), "GitHub's response about acme/shop is not as documented"],
    [() => Promise.reject(new TypeError("fetch failed")), "GitHub does not respond about acme/shop"],
    [
      () => new Response(new ReadableStream({ start: (controller) => controller.error(new Error("reset")) })),
      "GitHub's response about acme/shop broke off",
    ],
    [
      () => new Response(`{"id":1}${" ".repeat(8 * MEBIBYTE - 7)}`),
      `GitHub's response about acme/shop has more than ${8 * MEBIBYTE} bytes`,
    ],
  ])("fails temporarily: %s", async (response, message) => {
    const error = await failureOf({}, response);
    expect(error).not.toBeInstanceOf(GithubRefusal);
    expect(error.message).toBe(message);
    expect(error.failure).toMatchObject({ code: "resource_unavailable", retry_at: NOW + 60_000 });
  });

  it("accepts a response of 8 MiB", async () => {
    const largest = () => new Response(`{"id":1}${" ".repeat(8 * MEBIBYTE - 8)}`);
    expect(await send({}, largest).result).toMatchObject({ body: { id: 1 } });
  });

  it.each([
    [429, {}, "no", 60],
    [429, { "retry-after": "7" }, "no", 7],
    [429, { "retry-after": "0" }, "no", 1],
    [429, { "retry-after": "7.2" }, "no", 8],
    [429, { "retry-after": "4000" }, "no", 3600],
    [403, { "retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000300" }, "no", 7],
    [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000300" }, "no", 300],
    [403, { "x-ratelimit-remaining": "0" }, "no", 60],
    [429, { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1000300" }, "no", 60],
    [403, {}, "You have exceeded a secondary Rate Limit", 60],
  ])("waits while GitHub limits requests: %i %j %s", async (status, headers, message, seconds) => {
    const error = await failureOf({}, refusal(status, said(message), headers));
    expect(error.message).toBe("GitHub's rate limit is reached");
    expect(error.failure).toMatchObject({ code: "resource_unavailable", retry_at: NOW + seconds * 1000 });
    const anonymous = await failureOf({ token: undefined }, refusal(status, said(message), headers));
    expect(anonymous.message).toBe("GitHub's rate limit is reached; with a token it allows many more");
  });
});

describe("githubApp", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const shop = { owner: "Acme", repo: "shop" };
  const TEAMS = ["alpha"];
  const issue = (token: string, expires_at: number) => [
    () => Response.json({ id: 5 }),
    () => Response.json({ token, expires_at: new Date(expires_at).toISOString() }, { status: 201 }),
  ];

  it("keeps a token until five minutes before its expiry, unless GitHub refuses it", async () => {
    const { api, seen } = createGithub(
      ...issue("one", NOW + 300_001),
      ...issue("two", NOW + 300_000),
      ...issue("three", NOW + 999_999),
      ...issue("four", NOW + 999_999),
    );
    const app = githubApp({ id: "7", privateKey: async () => pem, ownerOf: async () => ({ team_uid: "alpha" }) }, api);
    expect(await app.tokenFor(shop, TEAMS)).toBe("one");
    expect(await app.tokenFor({ owner: "ACME", repo: "SHOP" }, TEAMS)).toBe("one");
    app.forget({ owner: "acme", repo: "Shop" });
    expect(await app.tokenFor(shop, TEAMS)).toBe("two");
    expect(await app.tokenFor(shop, TEAMS)).toBe("three");
    expect(await app.newToken(shop, TEAMS)).toEqual({ token: "four", installation: 5, expiresAt: NOW + 999_999 });
    expect(await app.tokenFor(shop, TEAMS)).toBe("three");
    expect(seen.map(({ url }) => url).slice(0, 2)).toEqual([
      `${API}/repos/Acme/shop/installation`,
      `${API}/app/installations/5/access_tokens`,
    ]);
    expect(seen[1]?.init?.body).toBe('{"repositories":["shop"],"permissions":{"contents":"read"}}');
    const [, claims = ""] = new Headers(seen[0]?.init?.headers).get("authorization")?.split(".") ?? [];
    const seconds = NOW / 1000;
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
      iat: seconds - 60,
      exp: seconds + 540,
      iss: "7",
    });
  });

  it("issues no token to teams that do not own the installation, not even one in the cache", async () => {
    const { api, seen } = createGithub(() => Response.json({ id: 5 }), ...issue("one", NOW + 999_999));
    const owners: (string | undefined)[] = ["beta", "alpha", undefined, "alpha"];
    const ownerOf = async (id: number) => {
      const team_uid = id === 5 ? owners.shift() : undefined;
      return team_uid === undefined ? undefined : { team_uid };
    };
    const app = githubApp({ id: "7", privateKey: async () => pem, ownerOf }, api);
    expect(await app.tokenFor(shop, TEAMS)).toBeUndefined();
    expect(seen).toHaveLength(1);
    expect(await app.tokenFor(shop, TEAMS)).toBe("one");
    expect(await app.tokenFor(shop, TEAMS)).toBeUndefined();
    expect(await app.tokenFor(shop, TEAMS)).toBe("one");
  });

  it("is chosen for a repository whose URL has no token, before the deployment's token", async () => {
    const { api } = createGithub(...issue("app's", NOW + 999_999), refusal(404, said("Not Found")));
    const app = githubApp({ id: "7", privateKey: async () => pem, ownerOf: async () => ({ team_uid: "alpha" }) }, api);
    const choose = async (token: string | undefined, github: object) => {
      const access = await chooseAccess(
        { ...shop, token, teams: TEAMS },
        { ...api, token: async () => undefined, ...github },
      );
      return [access.token, access.ifHidden];
    };
    const own = { token: async () => "own" };
    expect(await choose("in its URL", { app, ...own })).toEqual(["in its URL", "the token in its URL may not read it"]);
    expect(await choose(undefined, { app, ...own })).toEqual(["app's", "this deployment's GitHub App may not read it"]);
    app.forget(shop);
    expect(await choose(undefined, { app, ...own })).toEqual([
      "own",
      "this deployment's token may not read it: install this deployment's GitHub App for Acme/shop and claim the installation, or set another",
    ]);
    expect(await choose(undefined, own)).toEqual(["own", "this deployment's token may not read it: set another"]);
    expect(await choose(undefined, {})).toEqual([undefined, "it may be private, and there is no token: set one"]);
  });
});
