import * as v from "valibot";
import { createLink } from "#shared/web-sessions/sign-in-link.ts";
import { SignInLink } from "#shared/wire/web-session.ts";
import { callApi } from "../../host/api.ts";
import { Problem, say } from "../../host/terminal.ts";
import type { ServerPorts } from "../ports.ts";
import { type LocalState, readLocalState, type ServePaths } from "./local-state.ts";

/** Creates the link of a start: it signs the person whose key is in local.json in to the web app, once. */
export async function createStartLink({ api_key }: LocalState, ports: ServerPorts): Promise<string | undefined> {
  const principal = await ports.principals.authenticate(`Bearer ${api_key}`, undefined);
  if (principal.kind !== "personal") return undefined;
  return (await createLink(principal, undefined, ports)).url;
}

/** `npm start -- link`: asks the running server for another link and prints it. Returns the exit code. */
export async function printNewLink({ localFile }: ServePaths): Promise<number> {
  const state = await readLocalState(localFile);
  if (state === undefined) throw new Problem("Runyard has not been started here: start it with npm start.");
  const api = { baseUrl: state.base_url, key: state.api_key };
  const link = await callApi(api, "POST", "/session/link", SignInLink).catch((error: unknown) => {
    throw error instanceof TypeError ? new Problem(`No server responds at ${state.base_url}: npm start.`) : error;
  });
  say(v.parse(v.string(), link.url));
  return 0;
}
