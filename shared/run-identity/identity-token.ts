import { SignJWT } from "jose";
import { readEnvironment } from "#shared/environments/environment-store.ts";
import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { type RunBody, readBodies } from "#shared/records/run-body.ts";
import { type ExecutingHead, parseOwner } from "#shared/records/run-head.ts";
import type { Table } from "#shared/table/table.ts";
import type { IdentityTokenResponse } from "#shared/wire/executions/identity-token.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { parseRepositoryIdentity } from "#shared/wire/skills/skill-file.ts";
import { ALGORITHM, isSameAddress, type OwnIssuer } from "./own-issuer.ts";
import type { SigningKeys } from "./signing-keys.ts";

const TOKEN_SECONDS = 15 * 60;
/** What stands for a part that a run does not have, so that a policy can require that. */
const NONE = "none";

export interface IdentityTokenPorts extends OwnIssuer {
  readonly table: Table;
  readonly now: () => number;
  readonly baseUrl: string;
  readonly signingKeys: SigningKeys;
}

/** Signs a token for the run of an active execution. Every claim but the audience comes from what the service has stored. */
export async function issueIdentityToken(
  head: ExecutingHead,
  audience: string,
  { issuerUrl, baseUrl, now: clock, signingKeys, table }: IdentityTokenPorts,
): Promise<IdentityTokenResponse> {
  if (issuerUrl === undefined) {
    throw new RunyardError("conflict", {
      detail: "the deployment has no public address: start it with --url and an https URL",
      retryable: false,
    });
  }
  if (isSameAddress(audience, baseUrl) || isSameAddress(audience, issuerUrl)) {
    throw invalid("audience", "must not be this service, which takes no tokens of its own");
  }
  const claims = await readClaims(head, table);
  const { kid, key } = await signingKeys.findSigning();
  const issuedAt = Math.floor(clock() / 1000);
  const expiresAt = issuedAt + TOKEN_SECONDS;
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid, typ: "JWT" })
    .setIssuer(issuerUrl)
    .setAudience(audience)
    .setSubject(`team:${claims.team_uid}:identity:${claims.identity_uid}:environment:${claims.environment_uid}`)
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
  return { token, expires_at: toTimestamp(expiresAt * 1000) };
}

async function readClaims(head: ExecutingHead, table: Table) {
  const [body] = await readBodies([head.run_id], table);
  if (body === undefined) throw notFound("run");
  if (body.trigger?.is_fork === true) {
    throw new RunyardError("not_authorized", { detail: "a run of a fork's pull request gets no identity token" });
  }
  const owner = parseOwner(head);
  const { environment_id: environment } = body.config;
  const repository = environment === undefined ? undefined : await readRepository(environment, table);
  return {
    run_id: head.run_id,
    root_run_id: head.root ?? head.run_id,
    team_uid: owner.type === "Team" ? owner.uid : NONE,
    identity_uid: findIdentity(body) ?? NONE,
    environment_uid: environment ?? NONE,
    source: body.source,
    ...(body.schedule === undefined ? {} : { schedule_id: body.schedule.schedule_id }),
    ...(body.trigger === undefined ? {} : { trigger_id: body.trigger.trigger_id }),
    ...(repository === undefined ? {} : { repository }),
  };
}

const findIdentity = ({ executor }: RunBody): string | undefined =>
  executor.type === "service_account" ? executor.uid : undefined;

/** `owner/name` of the environment's repository, where it has exactly one. Repositories that the request added do not count. */
async function readRepository(uid: string, table: Table): Promise<string | undefined> {
  const repositories = (await readEnvironment(uid, table))?.repositories ?? [];
  const [only] = repositories;
  if (only === undefined || repositories.length > 1) return undefined;
  const { owner, name } = parseRepositoryIdentity(only.url);
  return `${owner}/${name}`;
}
