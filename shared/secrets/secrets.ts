import { scryptSync } from "node:crypto";
import * as v from "valibot";
import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Table, type TransactionWrite } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { CreateSecretRequest, SecretItem } from "#shared/wire/secret.ts";
import type { SecretPorts } from "./ports.ts";

/** Secrets of one team. An account keeps 10,000 for nothing. */
const MAX_SECRETS = 100;

/** A secret's name as it is stored; the value is in the vault, under an id that no other value ever has. */
const Secret = v.object({ team_uid: v.string(), name: v.string(), id: v.string(), created_at: v.number() });
type Secret = v.InferOutput<typeof Secret>;

export const parseSecret = (item: Item): Secret => v.parse(Secret, item);

export interface CreatedSecret {
  readonly secret: SecretItem;
  readonly replayed: boolean;
}

/**
 * Keeps a value under a name, once. The value first and the name after: a name never stands without its value, and a value
 * whose name did not come about is forgotten.
 */
export function createSecret(
  team: string,
  { name, value }: CreateSecretRequest,
  once: IdempotentRequest,
  { table, vault, now: clock }: SecretPorts,
): Promise<CreatedSecret> {
  return runIdempotent<CreatedSecret>(
    table,
    once,
    clock,
    async (record) => {
      const existing = await listSecrets([team], table);
      if (existing.some((secret) => secret.name === name)) throw taken();
      if (existing.length >= MAX_SECRETS) {
        throw new RunyardError("conflict", { detail: `a team has at most ${MAX_SECRETS} secrets`, retryable: false });
      }
      const now = clock();
      const secret: Secret = { team_uid: team, name, id: uuidv7(now), created_at: now };
      await vault.put(team, secret.id, value);
      try {
        const item = { ...keys.secret(team, name), v: 1, ...secret };
        const put: TransactionWrite = { kind: "put", item, if: { pk: { exists: false } } };
        await transactInScope({ type: "Team", uid: team }, [record(name), put], table);
      } catch (error) {
        await vault.remove(team, secret.id);
        if (!(error instanceof ConditionFailed)) throw error;
        throw error.positions.includes(0) ? new IdempotencyRecordExists() : taken();
      }
      return { secret: toSecretItem(secret), replayed: false };
    },
    async () => ({ secret: await readSecret([team], name, table), replayed: true }),
  );
}

const taken = () =>
  new RunyardError("conflict", { detail: "name: there is a secret of this name; delete it first", retryable: false });

/** What tells one value from another in a record of requests, and cannot be guessed back from it. */
export const digestOf = (team: string, { name, value }: CreateSecretRequest): string =>
  scryptSync(value, `${team}:${name}`, 32).toString("base64");

/** The names of the teams' secrets, in order. */
export async function listSecrets(teams: readonly string[], table: Table): Promise<SecretItem[]> {
  const pages = await Promise.all(
    teams.map((team) => {
      const { pk, sk: prefix } = keys.secret(team, "");
      return table.query({ pk, prefix });
    }),
  );
  const all = pages.flatMap(({ items }) => items.map(parseSecret).map(toSecretItem));
  return all.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** A secret's place in the list. */
export const placeOf = ({ name, scope }: SecretItem): string => `${name}#${scope.uid}`;

export async function readSecret(teams: readonly string[], name: string, table: Table): Promise<SecretItem> {
  return toSecretItem(await secretCalled(teams, name, table));
}

async function secretCalled(teams: readonly string[], name: string, table: Table): Promise<Secret> {
  const items = teams.length === 0 ? [] : await table.batchGet(teams.map((team) => keys.secret(team, name)));
  const [only, second] = items.filter((item) => item !== undefined);
  if (only === undefined) throw notFound("secret");
  if (second !== undefined) throw invalid("X-Team-Uid", "several of your teams have a secret of this name: name one");
  return parseSecret(only);
}

/** Forgets a secret: first its name, then its value. */
export async function deleteSecret(
  teams: readonly string[],
  name: string,
  { table, vault }: Pick<SecretPorts, "table" | "vault">,
): Promise<void> {
  const { team_uid: team, id } = await secretCalled(teams, name, table);
  const key = keys.secret(team, name);
  try {
    await table.write({ kind: "delete", key, if: { id: { eq: id } } });
  } catch (error) {
    throw error instanceof ConditionFailed ? notFound("secret") : error;
  }
  await vault.remove(team, id);
}

const toSecretItem = ({ team_uid, name, created_at }: Secret): SecretItem => ({
  name,
  created_at: toTimestamp(created_at),
  scope: { type: "Team", uid: team_uid },
});
