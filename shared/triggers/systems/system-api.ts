import * as v from "valibot";
import { createOutwardFetch, type OutwardFetch, type OutwardOptions } from "#shared/oidc/outward-fetch.ts";

/** Milliseconds that a system has to respond. */
const SYSTEM_MS = 8_000;
/** Bytes of a response: a page of 50 comments that are as long as they may be. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Requests the addresses that the operator has set, which may be those of a private network. */
export const createSystemFetch = (): OutwardFetch =>
  createOutwardFetch({ allowsPrivate: true, timeoutMs: SYSTEM_MS, maxBytes: MAX_BYTES });

/** Milliseconds of one of the three requests of a push, and bytes of its response: the refs of a repository with many branches. */
const OBJECTS_MS = 12_000;
const MAX_OBJECT_BYTES = 32 * 1024 * 1024;

/** Requests the same addresses for pushes, whose requests and responses contain the objects and refs of repositories. */
export const createObjectFetch = (): OutwardFetch =>
  createOutwardFetch({ allowsPrivate: true, timeoutMs: OBJECTS_MS, maxBytes: MAX_OBJECT_BYTES });

/** Requests token endpoints, whose addresses teams choose, as they do those of MCP servers. */
export const createTokenFetch = (allows: Pick<OutwardOptions, "allowsPrivate" | "allowsLoopback">): OutwardFetch =>
  createOutwardFetch({ ...allows, timeoutMs: SYSTEM_MS });

/** The addresses of the systems' APIs, without a slash at their ends. Only the operator sets them. */
export interface SystemAddresses {
  readonly github: string;
  readonly gitlab: string;
  readonly slack: string;
}

/** A response that cannot be used. Its message is shown to the team, so it contains nothing of the response. */
export class SystemFailure extends Error {
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.name = "SystemFailure";
    this.status = status;
  }
}

/** What a client of a system's API needs. */
export interface ApiAccess {
  /** The address of the API. */
  readonly address: string;
  readonly token: string;
  readonly fetch: OutwardFetch;
}

/** The result of a call; undefined where the system responds with 404 or 410. */
export async function ignoreMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof SystemFailure && (error.status === 404 || error.status === 410)) return undefined;
    throw error;
  }
}

/** A text with slashes as a part of a path. */
export const toPath = (text: string): string => text.split("/").map(encodeURIComponent).join("/");

interface Call<T> {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly schema: v.GenericSchema<unknown, T>;
  /** The name of the system in messages. */
  readonly name: string;
}

/**
 * Sends a request to the API of a system.
 * @throws SystemFailure with the status of a response that is not as documented
 */
export async function callApi<T>(
  { method, url, headers, body, schema, name }: Call<T>,
  fetch: OutwardFetch,
): Promise<T> {
  // Names of an event are parts of the path, and these would lead to another one.
  if (/\/\.{1,2}(?:[/?]|$)/.test(url)) throw new SystemFailure("the event has a name that no request can contain");
  const response = await fetch(url, {
    ...(method === undefined ? {} : { method }),
    headers: {
      "user-agent": "Runyard",
      ...(body === undefined ? {} : { "content-type": "application/json; charset=utf-8" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new SystemFailure(`${name} does not respond`);
  });
  if (!response.ok) throw new SystemFailure(describe(name, response.status), response.status);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), await response.text());
  if (!parsed.success) throw new SystemFailure(`${name}'s response is not as documented`, response.status);
  return parsed.output;
}

function describe(name: string, status: number): string {
  if (status === 401) return `${name} refuses the credential: its status is 401`;
  if (status === 403)
    return `the credential lacks a right on ${name}, or has sent too many requests: the status is 403`;
  return `${name} responds with the status ${status}`;
}
