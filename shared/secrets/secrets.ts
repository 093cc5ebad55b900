import { scryptSync } from "node:crypto";
import { sortByText } from "#shared/arrays.ts";
import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { CreateSecretRequest, SecretItem } from "#shared/wire/secrets/secret.ts";
import { formatRenewal, parseRenewal, type Renewal, toRenewal } from "./renewal.ts";
import { formatGrant } from "./renewal-grant.ts";
import type { SecretPorts } from "./secret-ports.ts";
import { type Secret, secretStore } from "./secret-store.ts";

/** Secrets that one team may have. */
const MAX_SECRETS = 100;

export interface CreatedSecret {
  readonly secret: SecretItem;
  readonly replayed: boolean;
}

/**
 * Stores a secret once: first its value, then its name, so that a name is never without a value. A value whose name was refused
 * is deleted.
 */
export function addSecret(
  team: string,
  { name, value, renewal: newRenewal }: CreateSecretRequest,
  idempotency: IdempotentRequest,
  { table, vault, now: clock }: SecretPorts,
): Promise<CreatedSecret> {
  const store = secretStore(table);
  return runIdempotent<CreatedSecret>(
    table,
    idempotency,
    clock,
    async (record) => {
      const existing = await store.list([team]);
      if (existing.some((secret) => secret.name === name)) throw nameTaken();
      if (existing.length >= MAX_SECRETS) {
        throw new RunyardError("conflict", { detail: `a team has at most ${MAX_SECRETS} secrets`, retryable: false });
      }
      const now = clock();
      const renewal = newRenewal === undefined ? undefined : toRenewal(newRenewal, uuidv7(now), now);
      const secret: Secret = {
        ...{ team_uid: team, name, id: uuidv7(now), created_at: now },
        ...(renewal === undefined ? {} : { renewal: formatRenewal(renewal) }),
      };
      await vault.put(team, secret.id, value);
      if (newRenewal !== undefined && renewal !== undefined) await vault.put(team, renewal.id, formatGrant(newRenewal));
      try {
        await store.create(secret, record(name));
      } catch (error) {
        // After any other error, such as a lost response, the name may be stored.
        if (!(error instanceof ConflictError) && !(error instanceof RunyardError)) throw error;
        if (await store.has(secret)) return { secret: toSecretItem(secret), replayed: false };
        await removeValues(secret, vault);
        if (error instanceof RunyardError) throw error;
        throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : nameTaken();
      }
      return { secret: toSecretItem(secret), replayed: false };
    },
    async () => ({ secret: await readSecret([team], name, table), replayed: true }),
  );
}

const nameTaken = () =>
  new RunyardError("conflict", { detail: "name: a secret with this name exists; delete it first", retryable: false });

/** A digest that distinguishes values in an idempotency record; the value cannot be recovered from it. */
export const hashSecret = (team: string, { name, value, renewal }: CreateSecretRequest): string =>
  scryptSync(renewal === undefined ? value : canonicalJson([value, renewal]), `${team}:${name}`, 32).toString("base64");

/** The secrets of teams as responses show them, by name. */
export async function readSecrets(teams: readonly string[], table: Table): Promise<SecretItem[]> {
  return sortByText((await secretStore(table).list(teams)).map(toSecretItem), placeOf);
}

/** A secret's place in the list. */
export const placeOf = ({ name, scope }: SecretItem): string => `${name}#${scope.uid}`;

export async function readSecret(teams: readonly string[], name: string, table: Table): Promise<SecretItem> {
  return toSecretItem(await findSecret(teams, name, table));
}

async function findSecret(teams: readonly string[], name: string, table: Table): Promise<Secret> {
  const [only, second] = await secretStore(table).getOfTeams(teams, name);
  if (only === undefined) throw notFound("secret");
  if (second !== undefined)
    throw invalid("X-Team-Uid", "several of your teams have a secret with this name: name the team");
  return only;
}

/** Deletes a secret: first its name, then its value. */
export async function removeSecret(
  teams: readonly string[],
  name: string,
  { table, vault }: Pick<SecretPorts, "table" | "vault">,
): Promise<void> {
  const secret = await findSecret(teams, name, table);
  try {
    await secretStore(table).delete(secret);
  } catch (error) {
    throw error instanceof ConflictError ? notFound("secret") : error;
  }
  await removeValues(secret, vault);
}

async function removeValues({ team_uid, id, renewal }: Secret, vault: SecretPorts["vault"]): Promise<void> {
  // What could get new tokens first.
  if (renewal !== undefined) await vault.remove(team_uid, parseRenewal(renewal).id);
  await vault.remove(team_uid, id);
}

const toSecretItem = ({ team_uid, name, created_at, renewal }: Secret): SecretItem => ({
  name,
  created_at: toTimestamp(created_at),
  scope: { type: "Team", uid: team_uid },
  ...(renewal === undefined ? {} : { renewal: showRenewal(parseRenewal(renewal)) }),
});

const showRenewal = ({ server_url, token_endpoint, renewed_at, expires_at, refusal }: Renewal) => ({
  ...{ server_url, token_endpoint, renewed_at: toTimestamp(renewed_at) },
  ...(expires_at === undefined ? {} : { expires_at: toTimestamp(expires_at) }),
  ...(refusal === undefined ? {} : { refusal: refusal.reason }),
});
