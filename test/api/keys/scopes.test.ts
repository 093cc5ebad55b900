import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { beforeEach, describe, expect, it } from "vitest";
import { type Route, routes } from "#infra/routes.ts";
import { keys } from "#shared/table/keys.ts";
import { isScope, type Scope } from "#shared/wire/keys/scope.ts";
import { SCOPES } from "#shared/wire/keys/scopes.ts";
import { type Client, createClient, type RequestOptions, request } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { makeStage, type PrincipalName, type Stage } from "../../support/principals.ts";
import { bodies, prepare, toTarget } from "../../support/valid-requests.ts";
import { startSession } from "../../support/web-sessions.ts";

const Matrix = v.record(v.string(), v.record(v.string(), v.number()));
const matrix = v.parse(Matrix, JSON.parse(readFileSync(join(import.meta.dirname, "principals.matrix.json"), "utf8")));

const withScope = routes.flatMap((route) => (isScope(route.scope) ? [{ route, scope: route.scope }] : []));
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const without = (scope: Scope): Scope[] => SCOPES.filter((one) => one !== scope);

/** The kinds of credentials, each with the principal of the matrix that it is one of. */
const CREDENTIALS = [
  { kind: "personal", credential: "a personal key", principal: "creator", create: personalKey },
  { kind: "personal", credential: "a web session", principal: "creator's web session", create: session },
  { kind: "agent", credential: "an agent key", principal: "agent of the team", create: agentKey },
  { kind: "run", credential: "a run's key", principal: "the run itself", create: runKey },
] as const satisfies readonly {
  readonly kind: string;
  readonly credential: string;
  readonly principal: PrincipalName;
  readonly create: (stage: Stage, scopes: readonly Scope[]) => Promise<RequestOptions>;
}[];

/** The stage's identity has a key with all scopes: inherited-scopes.test.ts has the changes of identities. */
const CHANGE_IDENTITY = "PUT /agent/identities/{identityUid}";

const cases = withScope.flatMap(({ route, scope }) =>
  CREDENTIALS.filter(({ kind }) => route.who !== "public" && route.who.includes(kind)).map((credential) => ({
    ...credential,
    name: nameOf(route),
    scope,
    status: matrix[nameOf(route)]?.[credential.principal],
  })),
);

describe("the scope of a route", () => {
  // @contract scopes.one: Each route has exactly one scope.
  it("is one of those that a key can have, and each is needed somewhere", () => {
    const used = new Set(withScope.map(({ scope }) => scope));
    expect(SCOPES.filter((scope) => !used.has(scope))).toEqual([]);
  });

  it("is described in docs/keys.md", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/keys.md"), "utf8");
    expect(SCOPES.filter((scope) => !page.includes(`\`${scope}\``))).toEqual([]);
  });

  // A run whose transcript is complete has no key.
  const callable = cases.filter(({ status }) => status !== 401);
  // @contract scopes.route: A route beyond the scopes is 403 naming the missing one.
  it.each(callable)(
    "$scope is needed for $name by $credential, and no other",
    async ({ name, scope, status, create }) => {
      const stage = await makeStage();
      await prepare(name, stage);
      const refused = await send(stage, name, await create(stage, without(scope)));
      expect(refused).toMatchObject({
        status: 403,
        body: { error_code: "not_authorized", detail: expect.stringContaining(`lacks the scope ${scope}:`) },
      });
      const accepted = await send(stage, name, await create(stage, [scope]));
      expect(accepted.status, JSON.stringify(accepted.body)).toBe(name === CHANGE_IDENTITY ? 403 : status);
    },
  );
});

async function personalKey(stage: Stage, scopes: readonly Scope[]): Promise<{ key: string }> {
  return { key: (await createClient(stage.plane).post("/agent/keys", { name: "scoped", scopes })).body.key };
}

async function session(stage: Stage, scopes: readonly Scope[]): Promise<RequestOptions> {
  const { headers } = await startSession(stage.plane, await personalKey(stage, scopes));
  return { key: undefined, headers };
}

async function agentKey(stage: Stage, scopes: readonly Scope[]): Promise<RequestOptions> {
  const path = `/agent/identities/${stage.identityUid}/keys`;
  return { key: (await createClient(stage.plane).post(path, { name: "scoped", scopes })).body.key };
}

async function runKey(stage: Stage, scopes: readonly Scope[]): Promise<RequestOptions> {
  await stage.plane.table.write({ kind: "update", key: keys.head(stage.runId), set: { scopes: [...scopes] } });
  return { key: stage.key("the run itself") };
}

function send(stage: Stage, name: string, options: RequestOptions): Promise<ResponseBody> {
  const [method = ""] = name.split(" ");
  const body = bodies[name]?.(stage);
  return request(stage.plane, method, toTarget(name, stage), { ...options, ...(body === undefined ? {} : { body }) });
}

let plane: TestControlPlane;
let ada: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = createClient(plane);
});

const lacks = (scope: Scope) => ({
  status: 403,
  body: { error_code: "not_authorized", detail: expect.stringContaining(`lacks the scope ${scope}:`) },
});

/** A client with a new personal key of these scopes. */
async function withScopes(...scopes: Scope[]): Promise<Client> {
  return createClient(plane, (await ada.post("/agent/keys", { name: "scoped", scopes })).body.key);
}

describe("the scopes of a key", () => {
  // @contract scopes.default: A new key has all scopes of its principal by default.
  it("are all by default, also of a key from before there were scopes", async () => {
    const { body } = await ada.post("/agent/keys", { name: "laptop" });
    expect(body.scopes).toEqual([...SCOPES]);
    const [first] = (await ada.get("/agent/keys")).body.keys;
    expect(first.scopes).toEqual([...SCOPES]);
    expect(plane.table.all().filter((item) => "scopes" in item)).toEqual([]);
  });

  it("are shown in their order, each once", async () => {
    const { body } = await ada.post("/agent/keys", { name: "ci", scopes: ["runs:write", "runs:read", "runs:write"] });
    expect(body.scopes).toEqual(["runs:read", "runs:write"]);
    const listed = (await ada.get("/agent/keys")).body.keys;
    const { key: _, ...shown } = body;
    expect(listed).toContainEqual(shown);
  });

  it.each([
    [["runs:delete"], "scopes[0]"],
    [["*"], "scopes[0]"],
    [[], "scopes"],
    ["runs:read", "scopes"],
  ])("are refused with 400 if they are %j", async (scopes, field) => {
    const { status, body } = await ada.post("/agent/keys", { name: "ci", scopes });
    expect(status).toBe(400);
    expect(body.errors[0].path.replaceAll(/\.(\d+)/g, "[$1]")).toBe(field);
  });

  // @contract scopes.subset: No credential makes a key with more scopes than it has.
  it("are at most those of the key that creates it, which are the default", async () => {
    const limited = await withScopes("keys", "runs:read");
    expect((await limited.post("/agent/keys", { name: "same" })).body.scopes).toEqual(["runs:read", "keys"]);
    expect((await limited.post("/agent/keys", { name: "less", scopes: ["keys"] })).body.scopes).toEqual(["keys"]);
    expect(await limited.post("/agent/keys", { name: "more", scopes: ["runs:write"] })).toMatchObject(
      lacks("runs:write"),
    );
  });

  it("of an identity are at most those of the person who creates it", async () => {
    const { uid } = await plane.agent();
    const limited = await withScopes("keys", "runs:read");
    const path = `/agent/identities/${uid}/keys`;
    expect((await limited.post(path, { name: "same" })).body.scopes).toEqual(["runs:read", "keys"]);
    expect(await limited.post(path, { name: "more", scopes: ["runs:write"] })).toMatchObject(lacks("runs:write"));
  });
});

describe("a web session", () => {
  // @contract scopes.subset
  // @contract scopes.sessions: A session has the scopes of the credential that it was made with.
  it("of a key, or of a sign-in link that was made with it, has the key's scopes", async () => {
    const { body } = await ada.post("/agent/keys", { name: "scoped", scopes: ["keys", "runs:read"] });
    const link = await createClient(plane, body.key).post("/session/link", {});
    for (const credential of [{ key: body.key }, { token: link.body.token }]) {
      const { headers } = await startSession(plane, credential);
      const send = (method: string, path: string, more: RequestOptions = {}) =>
        request(plane, method, path, { key: undefined, headers, ...more });
      expect((await send("GET", "/agent/runs")).status).toBe(200);
      expect(await send("POST", "/agent/runs", { body: { prompt: "hello" } })).toMatchObject(lacks("runs:write"));
      expect((await send("POST", "/agent/keys", { body: { name: "more" } })).body.scopes).toEqual([
        "runs:read",
        "keys",
      ]);
    }
  });

  it("shows and ends itself without any scope, but other sessions with keys only", async () => {
    const { body } = await ada.post("/agent/keys", { name: "scoped", scopes: ["runs:read"] });
    const { headers } = await startSession(plane, { key: body.key });
    const send = (method: string, path: string) => request(plane, method, path, { key: undefined, headers });
    expect((await send("GET", "/session")).status).toBe(200);
    expect(await send("DELETE", "/session?all=true")).toMatchObject(lacks("keys"));
    expect((await send("DELETE", "/session")).status).toBe(204);
  });
});
