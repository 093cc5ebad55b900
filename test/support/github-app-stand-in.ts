import { generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import * as v from "valibot";

/** An installation of the App by one owner. */
interface Installation {
  readonly id: number;
  /** Repositories as `owner/name` in lower case. */
  readonly repositories: readonly string[];
  /** What the owner granted. */
  readonly permissions: Readonly<Record<string, string>>;
  /** True where the owner has suspended it. */
  readonly suspended: boolean;
  /** What it is installed on. */
  readonly account: { readonly id: number; readonly login: string; readonly type: "Organization" | "User" };
}

/** A person on GitHub, and their roles in organizations. */
interface Person {
  readonly id: number;
  readonly organizations: Readonly<Record<string, { readonly role: "admin" | "member"; readonly state?: "pending" }>>;
}

/** A token as it was issued. */
interface IssuedToken {
  readonly token: string;
  /** Repositories that it can read, as `owner/name` in lower case. */
  readonly repositories: readonly string[];
  readonly permissions: Readonly<Record<string, string>>;
  readonly expiresAt: number;
}

interface AppRequest {
  readonly method: string;
  readonly pathname: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON Web Token. */
  readonly token: string | undefined;
  readonly body: string;
}

/** A response of GitHub. */
interface AppResponse {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

const DOCS = "https://docs.github.com/rest";
const HOUR_MS = 3_600_000;
const Claims = v.object({ iat: v.pipe(v.number(), v.integer()), exp: v.number(), iss: v.string() });
const Exchange = v.strictObject({ client_id: v.string(), client_secret: v.string(), code: v.string() });
const Wanted = v.strictObject({
  repositories: v.optional(v.array(v.string())),
  repository_ids: v.optional(v.array(v.number())),
  permissions: v.optional(v.record(v.string(), v.string())),
});

const refused = (status: number, message: string): AppResponse => ({
  status,
  body: { message, documentation_url: DOCS, status: String(status) },
});

/** A right to write includes that to read. */
function grantsRight(permissions: Readonly<Record<string, string>>, right: string): boolean {
  const [name = "", level] = right.split(":");
  return permissions[name] === level || (level === "read" && permissions[name] === "write");
}

/** A GitHub App in GitHub's REST API, with its installations and the tokens that were issued to it. */
export class GithubAppStandIn {
  readonly id = "314159";
  readonly clientId = "Iv23liStandIn";
  readonly clientSecret = "a-client-secret";
  /** What the codes of people who have authorized the App are exchanged for, once each. */
  readonly codes = new Map<string, Person>();
  /** In the format that GitHub issues: PEM, PKCS #1. */
  readonly privateKey: string;
  /** All tokens that were issued and not revoked; a test may revoke them. */
  readonly issued: IssuedToken[] = [];
  /** Milliseconds that GitHub's clock is ahead of ours. */
  ahead = 0;
  readonly #publicKey: KeyObject;
  readonly #installations: Installation[] = [];
  readonly #people = new Map<string, Person>();
  readonly #clock: () => number;
  #made = 0;

  constructor(clock: () => number) {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    this.privateKey = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
    this.#publicKey = publicKey;
    this.#clock = clock;
  }

  /** Installs the App for repositories of one owner. */
  install(repositories: readonly string[], more: Partial<Omit<Installation, "id">> = {}): void {
    const permissions = { contents: "read", metadata: "read" };
    const id = 2_000_001 + this.#installations.length;
    const account = { id: 7, login: "acme", type: "Organization" } as const;
    this.#installations.push({ id, repositories, permissions, suspended: false, account, ...more });
  }

  /** Removes all installations, which revokes all tokens. */
  uninstall(): void {
    this.#installations.length = 0;
    this.issued.length = 0;
  }

  /** Suspends the installations, or ends that. No token of a suspended one is accepted, also afterwards. */
  suspend(suspended: boolean): void {
    for (const [index, one] of this.#installations.entries()) this.#installations[index] = { ...one, suspended };
    this.issued.length = 0;
  }

  isGood(token: string): boolean {
    return this.issued.some((one) => one.token === token && this.#now() < one.expiresAt);
  }

  mayRead(token: string, repository: string): boolean {
    const found = this.issued.find((one) => one.token === token);
    return found?.permissions["contents"] !== undefined && found.repositories.includes(repository);
  }

  /** Whether a token has a right such as `issues:write` in a repository. */
  isAllowed(token: string, repository: string, right: string): boolean {
    const found = this.issued.find((one) => one.token === token);
    return found?.repositories.includes(repository.toLowerCase()) === true && grantsRight(found.permissions, right);
  }

  /** The response to a request with the App's own token; undefined for other requests. `names` are all repositories. */
  respondTo(request: AppRequest, names: readonly string[]): AppResponse | undefined {
    const { method, pathname, token, body } = request;
    if (pathname === "/login/oauth/access_token") return this.#exchange(request);
    const person = this.#people.get(token ?? "");
    if (person !== undefined) return this.#respondToPerson(method, pathname, person);
    const described = /^\/app(?:\/installations\/(\d+))?$/.exec(pathname);
    if (method === "GET" && described !== null) return this.#findProblem(token) ?? this.#describe(described[1]);
    const [, full, number] = /^\/(?:repos\/([^/]+\/[^/]+)|repositories\/(\d+))\/installation$/.exec(pathname) ?? [];
    const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(pathname) ?? [];
    if (id === undefined && full === undefined && number === undefined) return undefined;
    const problem = this.#findProblem(token);
    if (problem !== undefined) return problem;
    if (method === "POST" && id !== undefined) return this.#issue(Number(id), body, names);
    const name = full?.toLowerCase() ?? names[Number(number) - 1] ?? "";
    const found = this.#installations.find(({ repositories }) => repositories.includes(name));
    if (found === undefined || method !== "GET") return refused(404, "Not Found");
    const { id: installation, permissions } = found;
    return {
      status: 200,
      body: { id: installation, app_id: Number(this.id), repository_selection: "selected", permissions },
    };
  }

  /** https://docs.github.com/en/rest/apps/apps */
  #describe(installation: string | undefined): AppResponse {
    if (installation === undefined) {
      return { status: 200, body: { id: Number(this.id), slug: "runyard-of-acme", client_id: this.clientId } };
    }
    const found = this.#installations.find(({ id }) => id === Number(installation));
    if (found === undefined) return refused(404, "Not Found");
    const { id, account, permissions } = found;
    return {
      status: 200,
      body: { id, account, permissions, repository_selection: "selected", app_id: Number(this.id) },
    };
  }

  /** A page of GitHub, which does not know the media type of the API. A code is valid once, and an error has the status 200. */
  #exchange({ method, token, body, headers }: AppRequest): AppResponse {
    if (headers.accept !== "application/json") return refused(406, "Not Acceptable");
    if (headers["content-type"] !== "application/json") return refused(404, "Not Found");
    const wanted = v.safeParse(v.pipe(v.string(), v.parseJson(), Exchange), body);
    if (method !== "POST" || token !== undefined || !wanted.success) return refused(404, "Not Found");
    const { client_id, client_secret, code } = wanted.output;
    if (client_id !== this.clientId || client_secret !== this.clientSecret) {
      return { status: 200, body: { error: "incorrect_client_credentials" } };
    }
    const person = this.codes.get(code);
    if (person === undefined) return { status: 200, body: { error: "bad_verification_code" } };
    this.codes.delete(code);
    const access_token = `ghu_made${++this.#made}`;
    this.#people.set(access_token, person);
    return { status: 200, body: { access_token, token_type: "bearer", scope: "" } };
  }

  #respondToPerson(method: string, pathname: string, { id, organizations }: Person): AppResponse {
    if (method === "GET" && pathname === "/user") return { status: 200, body: { id, login: `person-${id}` } };
    const [, login = ""] = /^\/user\/memberships\/orgs\/([^/]+)$/.exec(pathname) ?? [];
    const found = organizations[login];
    const organization = this.#installations.find(({ account }) => account.login === login)?.account;
    if (method !== "GET" || found === undefined || organization === undefined) return refused(404, "Not Found");
    return { status: 200, body: { state: "active", ...found, organization } };
  }

  #findProblem(token: string | undefined): AppResponse | undefined {
    const [header = "", payload = "", signature = ""] = token?.split(".") ?? [];
    const claims = v.safeParse(v.pipe(v.string(), v.parseJson(), Claims), decoded(payload));
    if (!claims.success) return refused(401, "A JSON web token could not be decoded");
    const { iss, iat, exp } = claims.output;
    if (iss !== this.id) return refused(404, "Integration not found");
    const signed = Buffer.from(`${header}.${payload}`);
    const isTrue = verify("RSA-SHA256", signed, this.#publicKey, Buffer.from(signature, "base64url"));
    if (!isTrue || !decoded(header).includes('"RS256"')) return refused(401, "A JSON web token could not be decoded");
    const now = this.#now() / 1000;
    if (iat > now) {
      return refused(401, "'Issued at' claim ('iat') must be an Integer representing the time that it was issued");
    }
    if (exp <= now) return refused(401, "'Expiration time' claim ('exp') must represent a time in the future");
    if (exp > now + 600) return refused(401, "'Expiration time' claim ('exp') is too far in the future");
    return undefined;
  }

  #issue(id: number, body: string, names: readonly string[]): AppResponse {
    const installation = this.#installations.find((one) => one.id === id);
    if (installation === undefined) return refused(404, "Not Found");
    if (installation.suspended) return refused(403, "This installation has been suspended");
    const wanted = v.parse(v.pipe(v.string(), v.parseJson(), Wanted), body);
    const [owner = ""] = installation.repositories[0]?.split("/") ?? [];
    const numbered = wanted.repository_ids?.map((number) => names[number - 1] ?? "");
    const named = wanted.repositories?.map((name) => `${owner}/${name}`.toLowerCase());
    const repositories = numbered ?? named ?? installation.repositories;
    if (!repositories.every((name) => installation.repositories.includes(name))) {
      return refused(422, "There is at least one repository that does not exist or is not accessible.");
    }
    const permissions = wanted.permissions ?? installation.permissions;
    const grants = ([name, level]: [string, string]) => grantsRight(installation.permissions, `${name}:${level}`);
    if (!Object.entries(permissions).every(grants)) {
      return refused(422, "The permissions requested are not granted to this installation.");
    }
    const expiresAt = this.#now() + HOUR_MS;
    const token = `ghs_made${++this.#made}`;
    this.issued.push({ token, repositories, permissions, expiresAt });
    const expires = new Date(expiresAt).toISOString().replace(".000", "");
    return { status: 201, body: { token, expires_at: expires, permissions, repository_selection: "selected" } };
  }

  readonly #now = (): number => this.#clock() + this.ahead;
}

const decoded = (part: string): string => Buffer.from(part, "base64url").toString();
