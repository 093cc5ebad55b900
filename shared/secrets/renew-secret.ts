import { setTimeout as sleep } from "node:timers/promises";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import { parseRenewal, type Renewal, toExpiry } from "./renewal.ts";
import { formatGrant, type IssuedTokens, parseGrant, type RenewalResult, type RenewToken } from "./renewal-grant.ts";
import { beginRenewal, endRenewal } from "./renewal-store.ts";
import { type Secret, secretStore } from "./secret-store.ts";

/** Calls token endpoints, in a function of its own. */
export interface TokenEndpoints {
  renew(request: RenewToken): Promise<RenewalResult>;
}

export interface RenewalPorts {
  readonly table: Table;
  readonly vault: Pick<SecretVault, "getAll" | "replace">;
  readonly tokens: TokenEndpoints;
  readonly now: () => number;
}

/** A token is renewed this long before it expires, or after half of its lifetime if that is later. */
const LEAST_LEFT_MS = 10 * 60_000;
/** A token that is refused so soon after its renewal would not be accepted after another one. */
const FRESH_MS = 60_000;
/** A server that refused to renew a token is asked again after this time. */
const REFUSED_MS = 10 * 60_000;
/** Longer than a call of the token endpoint with its storage. */
const LEASE_MS = 30_000;
/** How long another execution's renewal is waited for. */
const POLL_MS = 100;
const POLLS = 150;

/** Why a token was not renewed. */
export interface RenewalProblem {
  readonly problem?: string;
}

/**
 * Renews a token if it is about to expire, or if a server has refused it. Of several executions that start at the same time, one renews
 * and the others wait: servers answer a second use of a refresh token by revoking all tokens.
 */
export async function renewSecret(secret: Secret, isRefused: boolean, ports: RenewalPorts): Promise<RenewalProblem> {
  if (secret.renewal === undefined) return {};
  const renewal = parseRenewal(secret.renewal);
  if (!isDue(renewal, isRefused, ports.now())) return {};
  const { refusal } = renewal;
  if (refusal !== undefined && ports.now() - refusal.at < REFUSED_MS) return { problem: refusal.reason };
  const until = ports.now() + LEASE_MS;
  if (!(await beginRenewal(secret, ports.now(), until, ports.table))) return await awaitOther(secret, ports);
  const { changed, problem } = await requestRenewal(secret, renewal, ports);
  await endRenewal(secret, until, changed, ports.table);
  return problem === undefined ? {} : { problem };
}

function isDue({ renewed_at, expires_at }: Renewal, isRefused: boolean, now: number): boolean {
  if (isRefused) return now - renewed_at >= FRESH_MS;
  if (expires_at === undefined) return false;
  return expires_at - now < Math.min(LEAST_LEFT_MS, (expires_at - renewed_at) / 2);
}

async function awaitOther({ team_uid, name, id, renewals }: Secret, { table }: RenewalPorts): Promise<RenewalProblem> {
  for (let poll = 0; poll < POLLS; poll++) {
    const [current] = await secretStore(table).getMany(team_uid, [name]);
    if (current === undefined || current.id !== id) return {};
    if (current.renewals !== renewals) return findRefusal(current);
    await sleep(POLL_MS);
  }
  return { problem: "another execution renews its token and has not ended" };
}

/** Says why a token can no longer be renewed, if it cannot. */
function findRefusal({ renewal }: Secret): RenewalProblem {
  const reason = renewal === undefined ? undefined : parseRenewal(renewal).refusal?.reason;
  return reason === undefined ? {} : { problem: reason };
}

async function requestRenewal(
  secret: Secret,
  renewal: Renewal,
  { vault, tokens: endpoints, now }: RenewalPorts,
): Promise<RenewalProblem & { readonly changed: Renewal }> {
  const { token_endpoint, client_id, resource, id } = renewal;
  const { team_uid, name } = secret;
  const result = await endpoints.renew({
    action: "renew_token",
    ...{ team_uid, secret_id: id, token_endpoint, client_id },
    ...(resource === undefined ? {} : { resource }),
  });
  const host = new URL(token_endpoint).host;
  const { tokens } = result;
  if (tokens === undefined) {
    if (result.refused === undefined)
      return { changed: renewal, problem: `its token cannot be renewed: ${result.failure ?? host}` };
    const again = `run \`runyard mcp login ${renewal.server_url} --secret ${name}\` again`;
    const reason = `${host} refuses to renew its token (${result.refused}): ${again}`;
    return { changed: { ...renewal, refusal: { at: now(), reason } }, problem: reason };
  }
  await storeTokens(secret, id, tokens, vault);
  const { refusal: _refusal, expires_at: _expiry, ...rest } = renewal;
  return { changed: { ...rest, renewed_at: now(), ...toExpiry(tokens.expires_in, now()) } };
}

/** Stores the refresh token first: the server has already invalidated the former one. */
async function storeTokens(
  { team_uid, id }: Secret,
  grantId: string,
  { access_token, refresh_token }: IssuedTokens,
  vault: RenewalPorts["vault"],
): Promise<void> {
  if (refresh_token !== undefined) {
    const former = parseGrant((await vault.getAll(team_uid, [grantId])).get(grantId) ?? "{}");
    await vault.replace(team_uid, grantId, formatGrant({ ...former, refresh_token }));
  }
  await vault.replace(team_uid, id, access_token);
}
