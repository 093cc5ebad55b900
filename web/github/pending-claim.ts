import * as v from "valibot";
import { readStored, store } from "../api/browser-storage.ts";
import { client } from "../api/client.ts";
import { safeUrl } from "../ui/safe-url.ts";

/** What the tab keeps of a claim while the person is at GitHub, which returns the state and not always the installation. */
const PendingClaim = v.object({ state: v.string(), team: v.string(), installation_id: v.optional(v.number()) });
type PendingClaim = v.InferOutput<typeof PendingClaim>;

/** In the session storage, so that it is of this tab alone and ends with it. */
const KEY = "runyard-github-claim";

/** Begins a claim for a team, and leads to GitHub: to install the App, or only to authorize it where it is installed. */
export async function leaveForGithub(team: string, installation_id?: number): Promise<void> {
  const { install_url, authorize_url } = await client.github.beginClaim({ team });
  const url = safeUrl(installation_id === undefined ? install_url : authorize_url);
  const state = url === undefined ? undefined : new URL(url).searchParams.get("state");
  if (url === undefined || !state) throw new Error("The service returned no address of GitHub.");
  const claim: PendingClaim = { state, team, ...(installation_id === undefined ? {} : { installation_id }) };
  store("sessionStorage", KEY, JSON.stringify(claim));
  location.assign(url);
}

/** The claim that this tab has begun, if `state` belongs to it. */
export function readPendingClaim(state: string | undefined): PendingClaim | undefined {
  const stored = v.safeParse(v.pipe(v.string(), v.parseJson(), PendingClaim), readStored("sessionStorage", KEY));
  return stored.success && stored.output.state === state ? stored.output : undefined;
}

export const forgetPendingClaim = (): boolean => store("sessionStorage", KEY, undefined);
