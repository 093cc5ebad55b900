import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { stripTerminal } from "#shared/wire/terminal-text.ts";
import { type Api, callApi } from "../server/host/api.ts";
import { localModels } from "../server/host/models.ts";

/** A row of the report. */
export type Finding = readonly [name: string, value: string, isRight: boolean];

/** The secret of the hostile run, whose commands print it as programs quote it and as terminals color it. */
export const PROBE_SECRET = "TRY_SANDBOX_SECRET";

/** Creates the secret of the hostile run, with both kinds of quotes. */
export async function createProbeSecret(api: Api) {
  const word = randomUUID();
  await callApi(api, "POST", "/agent/secrets", v.unknown(), { name: PROBE_SECRET, value: `it's"${word}` });
  return {
    remove: () => callApi(api, "DELETE", `/agent/secrets/${PROBE_SECRET}`, v.unknown()).catch(() => undefined),
    /** @param printed what the commands of the run printed */
    find(printed: readonly string[]): Finding {
      const isShown = printed.some((line) => [line, stripTerminal(line)].some((read) => read.includes(word)));
      const isHidden = printed.some((line) => line.includes("***"));
      return ["… printed its secret", isShown ? "yes" : isHidden ? "as ***" : "not at all", isHidden && !isShown];
    },
  };
}

const Key = v.object({ uid: v.string(), key: v.string() });
const Me = v.object({ teams: v.array(v.looseObject({ uid: v.string() })) });
/** How long a request waits before its key is deleted, and how long it may go on afterwards. */
const WAIT_MS = 1_000;
const END_MS = 60_000;

/**
 * Reads the events of a run in both ways with a key of its own, and deletes the key while both wait for more.
 * @returns a function to call when the run has continued, which finds whether a request received `later`
 */
export async function readWithoutKey(api: Api, runId: string, after: number, later: string) {
  const { uid, key } = await callApi(api, "POST", "/agent/keys", Key, { name: "try-sandbox" });
  const read = async (query: string, accept: string): Promise<string> => {
    const response = await fetch(`${api.baseUrl}/agent/runs/${runId}/events?after=${after}&${query}`, {
      headers: { authorization: `Bearer ${key}`, accept },
      signal: AbortSignal.timeout(END_MS),
    });
    return `${response.status} ${await response.text()}`;
  };
  const readers = [read("wait=20", "application/json"), read("live=true", "text/event-stream")];
  // Otherwise an early failure would count as unhandled until the run has ended.
  const ended = Promise.allSettled(readers);
  await sleep(WAIT_MS);
  await callApi(api, "DELETE", `/agent/keys/${uid}`, v.unknown());
  return async (): Promise<Finding[]> =>
    (await ended).map((result, index) => {
      const name = index === 0 ? "a waiting request" : "an open stream";
      if (result.status === "rejected") return [name, `did not end: ${String(result.reason)}`, false];
      const isShown = result.value.includes(later);
      return [name, isShown ? "told a deleted key what happened" : "ended with its key", !isShown];
    });
}

const PASSWORD = "hunter2-of-try-sandbox";
const INVITED = {
  "an invitation with a Cyrillic letter": "\u0430da@example.com",
  "an invitation with a zero-width space": "ada\u200b@example.com",
};

/** Sends what the service must refuse without repeating a password. */
export async function findRefusals(api: Api): Promise<Finding[]> {
  const { teams } = await callApi(api, "GET", "/agent/me", Me);
  const [team] = teams;
  const findings: Finding[] = [];
  for (const [name, email] of Object.entries(INVITED))
    findings.push(await refuse(name, api, `/agent/teams/${team?.uid}/invitations`, { email }));
  const url = `https://ada:${PASSWORD}@git.example.com/a/b`;
  const run = { prompt: "```sh\ntrue\n```", config: { model_id: "local/runbook", repositories: [{ url }] } };
  findings.push(await refuse("a password in a repository's URL", api, "/agent/runs", run));
  return [...findings, refuseProvider(), await followPath(api)];
}

async function refuse(name: string, api: Api, path: string, body: unknown): Promise<Finding> {
  const message = await callApi(api, "POST", path, v.unknown(), body).then(
    () => "",
    (error: unknown) => String(error),
  );
  if (message.includes(PASSWORD)) return [name, "its password was repeated", false];
  return message.includes(" returned 400") ? [name, "refused", true] : [name, message || "accepted", false];
}

/** Providers are settings of a deployment: this checkout reads them. */
function refuseProvider(): Finding {
  const name = "a password in a provider's URL";
  const url = `https://ada:${PASSWORD}@models.example.com/v1`;
  try {
    localModels({ RUNYARD_COMPATIBLE_BASE_URL: url, RUNYARD_COMPATIBLE_MODELS: "tiny" });
    return [name, "accepted", false];
  } catch (error) {
    const isRepeated = JSON.stringify([String(error), error]).includes(PASSWORD);
    return [name, isRepeated ? "its password was repeated" : "refused", !isRepeated];
  }
}

const HOST = "elsewhere.invalid";

/** Opens the page of the sign-in with paths that a URL parser reads as another host. */
async function followPath({ baseUrl }: Api): Promise<Finding> {
  const led: string[] = [];
  for (const to of [`//${HOST}`, `/\\${HOST}`, `/\t/${HOST}`, `/.//${HOST}`]) {
    const page = new URL(`/sign-in?to=${encodeURIComponent(to)}`, baseUrl);
    const { headers, body } = await fetch(page, { redirect: "manual", signal: AbortSignal.timeout(END_MS) });
    await body?.cancel();
    const location = headers.get("location");
    if (location !== null && new URL(location, page).origin !== page.origin) led.push(to);
  }
  const value =
    led.length === 0 ? "to no other host" : `to another host by ${led.map((to) => JSON.stringify(to)).join(", ")}`;
  return ["a sign-in leads", value, led.length === 0];
}
