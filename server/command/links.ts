import { createLink } from "#shared/web-sessions/sign-in-link.ts";
import { SignInLink } from "#shared/wire/web/web-session.ts";
import { callApi } from "../host/api.ts";
import { Problem } from "../host/terminal.ts";
import type { ServerPorts } from "../ports.ts";
import type { LocalState } from "./local-state.ts";

/** Creates the link of a start: it signs the person whose key is in local.json in to the web app, once. */
export async function createStartLink({ api_key }: LocalState, ports: ServerPorts): Promise<string | undefined> {
  const principal = await ports.principals.authenticate(`Bearer ${api_key}`, undefined);
  if (principal.kind !== "personal") return undefined;
  return (await createLink(principal, undefined, ports)).url;
}

/** Requests another link from the running server. */
export async function requestLink({ base_url, api_key }: LocalState): Promise<string | undefined> {
  const link = await callApi({ baseUrl: base_url, key: api_key }, "POST", "/session/link", SignInLink).catch(
    (error: unknown) => {
      throw error instanceof TypeError ? new Problem(`No server responds at ${base_url}: start it first.`) : error;
    },
  );
  return link.url;
}
