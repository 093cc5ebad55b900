import { generateKeyPairSync } from "node:crypto";
import { claimStore } from "#shared/github/claim-store.ts";
import { type Installation, installationStore } from "#shared/github/installation-store.ts";
import { sha256 } from "#shared/ids.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** Assigns an installation of the GitHub App to a team, by default the first installation of the stand-in. */
export async function claimInstallation(
  { table, clock }: Pick<TestControlPlane, "table" | "clock">,
  team_uid: string,
  more: Partial<Installation> = {},
): Promise<void> {
  await installationStore(table).claim({
    installation_id: 2_000_001,
    team_uid,
    account: { id: 7, login: "acme", type: "Organization" },
    repository_selection: "selected",
    claimed_by: { type: "user", uid: "ada" },
    claimed_at: clock.now,
    ...more,
  });
}

export const CLAIM_STATE = "the-state-of-a-claim";

let key: string | undefined;
function createKey(): string {
  key ??= generateKeyPairSync("rsa", { modulusLength: 2048 })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  return key;
}

/** Starts a claim of the first person of the plane, with a GitHub that says that everybody owns the account of the installation. */
export async function prepareClaim({ plane }: { readonly plane: TestControlPlane }): Promise<void> {
  const bodies: Readonly<Record<string, object>> = {
    "/app": { slug: "runyard", client_id: "Iv23li" },
    "/app/installations/2000001": {
      account: { id: 7, login: "acme", type: "User" },
      repository_selection: "selected",
    },
    "/login/oauth/access_token": { access_token: "ghu_made" },
    "/user": { id: 7 },
  };
  const api = {
    apiUrl: "https://api.github.com",
    fetch: async (url: string | URL | Request) => Response.json(bodies[new URL(String(url)).pathname] ?? {}),
    now: () => plane.clock.now,
  };
  const secrets = { privateKey: async () => createKey(), clientSecret: async () => "secret" };
  plane.repositories.appClient = { id: "1", ...secrets, api };
  // Tests may let an hour pass before the request.
  const claim = { team_uid: plane.team, user_uid: plane.user, expires_at_ms: plane.clock.now + 7_200_000 };
  await claimStore(plane.table).add(sha256(CLAIM_STATE), claim);
}
