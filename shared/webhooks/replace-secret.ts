import { RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/** Milliseconds for which the previous secret is valid as well. */
const OVERLAP_MS = 24 * 3_600_000;

/** What has a secret in the vault, under `secret_id`: a webhook or a trigger. */
interface SecretOwner {
  readonly secret_id: string;
  readonly previous_secret?: { readonly id: string; readonly expires_at: number };
  readonly updated_at: number;
}

interface SecretRules<T extends SecretOwner> {
  /** What people call the owner in errors. */
  readonly noun: string;
  read(): Promise<T>;
  /** The uid of the team or the person under which the vault has the secrets. */
  getScope(owner: T): string;
  generate(): string;
  /** @throws ConflictError naming `idempotency`, or another write if the owner was changed or deleted since */
  replace(before: T, after: T, idempotency: Put): Promise<void>;
}

export interface ReplacedSecret<T> {
  readonly owner: T;
  readonly secret: string;
  /** When the previous secret is no longer valid, in milliseconds. */
  readonly expiresAt: number;
  readonly replayed: boolean;
}

interface SecretPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly webhookSecrets: SecretVault;
}

/** Replaces the secret of its owner once: a repeated request gets the same secret. */
export function replaceSecretOnce<T extends SecretOwner>(
  rules: SecretRules<T>,
  idempotency: IdempotentRequest,
  { table, now: clock, webhookSecrets }: SecretPorts,
): Promise<ReplacedSecret<T>> {
  return runIdempotent<ReplacedSecret<T>>(
    table,
    idempotency,
    clock,
    async (record) => {
      const before = await rules.read();
      const scope = rules.getScope(before);
      const now = clock();
      const [id, secret] = [uuidv7(now), rules.generate()];
      const previous_secret = { id: before.secret_id, expires_at: now + OVERLAP_MS };
      const updated_at = Math.max(now, before.updated_at + 1);
      const owner = { ...before, secret_id: id, previous_secret, updated_at };
      await webhookSecrets.put(scope, id, secret);
      try {
        await rules.replace(before, owner, record(id));
      } catch (error) {
        // After any other error, such as a lost response, the new secret may be in use.
        if (!(error instanceof ConflictError)) throw error;
        await webhookSecrets.remove(scope, id);
        if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
        throw retryableConflict(`the ${rules.noun} is changed by another request; send the request again`);
      }
      if (before.previous_secret !== undefined) await webhookSecrets.remove(scope, before.previous_secret.id);
      return { owner, secret, expiresAt: previous_secret.expires_at, replayed: false };
    },
    async (id) => {
      const owner = await rules.read();
      const secret = (await webhookSecrets.getAll(rules.getScope(owner), [id])).get(id);
      if (secret === undefined || owner.secret_id !== id || owner.previous_secret === undefined) {
        throw secretReplaced();
      }
      return { owner, secret, expiresAt: owner.previous_secret.expires_at, replayed: true };
    },
    { checkFirst: true },
  );
}

/** The 409 of a repeated request whose secret was replaced since: secrets are shown to the request that made them only. */
export const secretReplaced = (): RunyardError =>
  new RunyardError("conflict", {
    detail: "the same request succeeded before, and its secret was replaced since; send it as a new request",
    retryable: false,
  });

/** The ids of the secrets of an owner that are in the vault. */
export const listSecretIds = ({
  secret_id,
  previous_secret: previous,
}: Pick<SecretOwner, "secret_id" | "previous_secret">): string[] =>
  previous === undefined ? [secret_id] : [secret_id, previous.id];
