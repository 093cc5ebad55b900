import { RunyardError } from "#shared/errors.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { SystemRequest, SystemResult, Systems } from "./system-request.ts";

/** What names the value of a credential. */
export interface Credential {
  readonly team_uid: string;
  readonly secret_id: string;
}

/**
 * Finds the secret that a credential names.
 * @throws RunyardError, retryable, where the team has none: it can be created again
 */
export async function readCredential(team: string, name: string, table: Table): Promise<Credential> {
  const [secret] = await secretStore(table).getMany(team, [name]);
  if (secret === undefined) throw unavailable(`the team has no secret ${name}, which is the trigger's credential`);
  return { team_uid: team, secret_id: secret.id };
}

/**
 * Sends a request to a system.
 * @throws RunyardError, retryable, where it fails
 */
export async function requestSystem(systems: Systems, request: SystemRequest): Promise<SystemResult> {
  const result = await systems.call(request);
  if (result.failure !== undefined) throw unavailable(result.failure);
  return result;
}

const unavailable = (detail: string): RunyardError => new RunyardError("resource_unavailable", { detail });
