import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { randomId, sha256 } from "#shared/ids.ts";
import { type PersonalPrincipal, toProfile } from "#shared/principals/principal.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type {
  ClaimInstallationRequest,
  InstallationClaim,
  InstallationItem,
} from "#shared/wire/github/installation.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { type AppClient, isOwner, readApp, readInstallation } from "./app-client.ts";
import { claimStore, deleteClaim } from "./claim-store.ts";
import { type Installation, installationStore } from "./installation-store.ts";
import { toWebUrl } from "./web-url.ts";

/** Milliseconds within which a claim must be complete: an App may be installed meanwhile. */
const CLAIM_MS = 3_600_000;

/** Ports of the rules that claim installations. */
export interface ClaimPorts {
  readonly table: Table;
  readonly now: () => number;
  /** Address of the web app, which has the page that GitHub redirects to. */
  readonly webUrl?: string | undefined;
  /** The deployment's GitHub App, if it has one. */
  readonly appClient: AppClient | undefined;
}

/** Starts a claim, which only this person can complete. */
export async function beginClaim(
  team: string,
  person: PersonalPrincipal,
  { table, now, webUrl, appClient }: ClaimPorts,
): Promise<InstallationClaim> {
  const client = requireApp(appClient);
  const { slug, client_id } = await readApp(client);
  const state = randomId();
  const expires_at_ms = now() + CLAIM_MS;
  await claimStore(table).add(sha256(state), { team_uid: team, user_uid: person.user.uid, expires_at_ms });
  const pages = toWebUrl(client.api.apiUrl);
  const callback = webUrl === undefined ? {} : { redirect_uri: `${webUrl}/github` };
  const query = new URLSearchParams({ client_id, state, ...callback });
  return {
    install_url: `${pages}/apps/${encodeURIComponent(slug)}/installations/new?state=${state}`,
    authorize_url: `${pages}/login/oauth/authorize?${query}`,
    expires_at: toTimestamp(expires_at_ms),
  };
}

interface ClaimedInstallation {
  readonly installation: Installation;
  readonly replayed: boolean;
}

/**
 * Adds an installation to a team, if the person who authorized the App owns the account that it is installed on.
 * @throws RunyardError 409 where a team has it
 */
export function completeClaim(
  team: string,
  request: ClaimInstallationRequest,
  person: PersonalPrincipal,
  idempotency: IdempotentRequest,
  ports: ClaimPorts,
): Promise<ClaimedInstallation> {
  const store = installationStore(ports.table);
  return runIdempotent<ClaimedInstallation>(
    ports.table,
    idempotency,
    ports.now,
    async (record) => {
      const hash = sha256(request.state);
      const installation = await prove(team, request, person, ports);
      try {
        const writes = { claim: deleteClaim(hash), idempotency: record(String(request.installation_id)) };
        await store.claim(installation, writes);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
        throw error.failed.has("installation") ? isTaken() : retryableConflict("the claim was completed meanwhile");
      }
      return { installation, replayed: false };
    },
    async (id) => {
      const installation = await store.get(Number(id));
      if (installation?.team_uid !== team) throw notFound("installation");
      return { installation, replayed: true };
    },
  );
}

/** Asks GitHub whether the person who started the claim owns the account of the installation. */
async function prove(
  team: string,
  { installation_id, state, code }: ClaimInstallationRequest,
  person: PersonalPrincipal,
  { table, now, appClient }: ClaimPorts,
): Promise<Installation> {
  const client = requireApp(appClient);
  const claim = await claimStore(table).get(sha256(state));
  const isValid = claim?.user_uid === person.user.uid && claim.team_uid === team && claim.expires_at_ms > now();
  if (!isValid) throw invalid("state", "does not belong to a claim that you started for this team: start another one");
  const found = await readInstallation(installation_id, client);
  // An unknown installation gets the response of an account that the person does not own.
  if (found === undefined || !(await isOwner(code, found.account, client))) throw notProven();
  return { installation_id, team_uid: team, ...found, claimed_by: toProfile(person), claimed_at: now() };
}

const notProven = (): RunyardError =>
  new RunyardError("not_authorized", {
    detail: "installation_id: GitHub does not show that you own the account on which the App is installed",
  });

const isTaken = (): RunyardError =>
  new RunyardError("conflict", {
    detail: "installation_id: a team of this deployment has claimed it: it must release it first",
    retryable: false,
  });

function requireApp(client: AppClient | undefined): AppClient {
  if (client !== undefined) return client;
  throw new RunyardError("integration_not_configured", { detail: "this deployment has no GitHub App" });
}

/**
 * Removes an installation from its team, which is one of these.
 * @throws RunyardError 404 where none of them has it
 */
export async function removeClaim(teams: readonly string[], id: number, table: Table): Promise<void> {
  const store = installationStore(table);
  const installation = await store.get(id);
  if (installation === undefined || !teams.includes(installation.team_uid)) throw notFound("installation");
  await store.release(installation.team_uid, id).catch((error: unknown) => {
    throw error instanceof ConflictError ? notFound("installation") : error;
  });
}

/** An installation as responses show it. */
export const toInstallationItem = ({ team_uid, claimed_at, ...installation }: Installation): InstallationItem => ({
  ...installation,
  scope: { type: "Team", uid: team_uid },
  claimed_at: toTimestamp(claimed_at),
});
