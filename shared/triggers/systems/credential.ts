import { RunyardError } from "#shared/errors.ts";
import type { FindOwner } from "#shared/github/installation-store.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { AnsweredEvent } from "../event.ts";
import type { Trigger } from "../trigger-store.ts";
import type { SystemRequest, SystemResult, Systems } from "./system-request.ts";

/** Where the value of a credential comes from: a secret of the team, or its installation of the deployment's GitHub App. */
export type Credential = { readonly team_uid: string } & (
  | { readonly secret_id: string }
  | { readonly installation_id: number; readonly tokens_from?: number }
);

/** A credential as triggers and replies name it. The installation takes precedence. */
export interface CredentialName {
  readonly team_uid: string;
  /** The name of a secret. */
  readonly credential?: string | undefined;
  readonly installation_id?: number | undefined;
}

export interface CredentialPorts {
  readonly table: Table;
  readonly ownerOf: FindOwner;
}

/** The credential for what a trigger does in answer to an event; undefined where it has none. */
export function nameCredential(
  { owner: { uid: team_uid }, credential }: Pick<Trigger, "owner" | "credential">,
  { installationId: installation_id }: Pick<AnsweredEvent, "installationId">,
): CredentialName | undefined {
  if (installation_id !== undefined) return { team_uid, installation_id };
  return credential === undefined ? undefined : { team_uid, credential };
}

/**
 * Finds the secret or the installation that a credential names.
 * @throws RunyardError, retryable, if the team does not have it, since it can add it again
 */
export async function readCredential(
  { team_uid, credential = "", installation_id }: CredentialName,
  { table, ownerOf }: CredentialPorts,
): Promise<Credential> {
  if (installation_id !== undefined) {
    const { team_uid: owner, suspended, tokens_from } = (await ownerOf(installation_id)) ?? {};
    if (owner === team_uid && suspended === true) {
      throw unavailable("the installation of the GitHub App is suspended on GitHub");
    }
    if (owner === team_uid) {
      return { team_uid, installation_id, ...(tokens_from === undefined ? {} : { tokens_from }) };
    }
    throw unavailable("the installation of the GitHub App does not belong to the team");
  }
  const [secret] = await secretStore(table).getMany(team_uid, [credential]);
  if (secret !== undefined) return { team_uid, secret_id: secret.id };
  throw unavailable(`the team has no secret ${credential}, which is the trigger's credential`);
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
