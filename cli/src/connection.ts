import path from "node:path";
import * as v from "valibot";
import { readJsonFile } from "./files.ts";
import { usage } from "./problem.ts";
import type { Shell } from "./shell.ts";

/** The base URL of the service, and the key for it. */
export interface Connection {
  readonly baseURL: string;
  readonly apiKey: string;
  /** Where the key came from, in words. */
  readonly from: string;
}

/** What `runyard login` stores. */
const Login = v.object({ base_url: v.string(), api_key: v.string() });
const LocalCloud = v.object({ base_url: v.string(), api_key: v.string(), pid: v.number() });

export function loginFile({ env, home }: Pick<Shell, "env" | "home">): string {
  const folder = env["XDG_CONFIG_HOME"] || path.join(home, ".config");
  return path.join(folder, "runyard", "config.json");
}

/**
 * Finds out where to call and with what: RUNYARD_API_KEY and RUNYARD_BASE_URL (or --base-url), then a local cloud that runs
 * in this folder, then what `runyard login` stored. A stored key is only ever sent to the address that it was stored for.
 */
export async function findConnection(shell: Shell, givenURL: string | undefined): Promise<Connection> {
  const apiKey = shell.env["RUNYARD_API_KEY"] || undefined;
  const baseURL = tidy(givenURL ?? (shell.env["RUNYARD_BASE_URL"] || undefined));
  if (apiKey !== undefined && baseURL !== undefined) return { baseURL, apiKey, from: FROM_ENVIRONMENT };
  const stored = await storedConnections(shell);
  if (apiKey !== undefined) {
    const [first] = stored;
    if (first === undefined) throw usage("RUNYARD_API_KEY is set, but the base URL is missing.", NO_ADDRESS);
    return { baseURL: first.baseURL, apiKey, from: FROM_ENVIRONMENT };
  }
  const found = stored.find((one) => baseURL === undefined || one.baseURL === baseURL);
  if (found !== undefined) return found;
  if (baseURL !== undefined) throw usage(`There is no key for ${baseURL}.`, NO_KEY);
  throw usage("No service is configured.", NOTHING);
}

const FROM_ENVIRONMENT = "in RUNYARD_API_KEY";
const NO_ADDRESS = "Set RUNYARD_BASE_URL to the base URL of the service, which ends in /api/v1.";
const NO_KEY = "Set RUNYARD_API_KEY, or store one with `runyard login`.";
const NOTHING =
  "Log in with `runyard login`, or set RUNYARD_BASE_URL and RUNYARD_API_KEY. `npm start` starts a local service.";

/** Nearest first: the local cloud of this folder, then the login. */
async function storedConnections(shell: Shell): Promise<Connection[]> {
  const local = await localCloud(shell);
  const file = loginFile(shell);
  const login = await readJsonFile(file, Login);
  const stored = login && { baseURL: login.base_url, apiKey: login.api_key, from: `in ${file}` };
  return [local, stored].filter((one) => one !== undefined);
}

/**
 * The local cloud of this folder or one above it, while it runs. It has to be on this machine: a folder that somebody else
 * filled must not send prompts and secrets to them.
 */
async function localCloud({ cwd }: Shell): Promise<Connection | undefined> {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const file = path.join(folder, ".runyard", "local.json");
    const local = await readJsonFile(file, LocalCloud).catch(() => undefined);
    if (local !== undefined && isOnThisMachine(local.base_url) && isAlive(local.pid)) {
      return { baseURL: local.base_url, apiKey: local.api_key, from: `in ${file}` };
    }
    if (folder === path.dirname(folder)) return undefined;
  }
}

export function isOnThisMachine(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user is alive too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Normalizes a base URL: removes a trailing slash. Throws if it is not a URL. */
export function tidy(url: string): string;
export function tidy(url: string | undefined): string | undefined;
export function tidy(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usage(`${url} is not a URL.`, "Expected a URL such as https://…/api/v1.");
  }
  return url.replace(/(?<!\/)\/+$/, "");
}
