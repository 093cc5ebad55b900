import { rename, writeFile } from "node:fs/promises";
import type { Providers } from "#shared/wire/executions/providers.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { AWS_TOKEN, GCP_CREDENTIALS, GCP_TOKEN } from "../isolation/provider-variables.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import type { Log } from "../support/log.ts";
import { formatError, SetupError } from "../support/stop.ts";

const AWS_AUDIENCE = "sts.amazonaws.com";
const GOOGLE_STS = "https://sts.googleapis.com/v1/token";
/** Tokens are valid for 15 minutes; a renewal that fails is tried again. */
const RENEW_AFTER_MS = 8 * 60_000;
const CHECK_MS = 60_000;

interface Context {
  readonly plane: Pick<ControlPlane, "createIdentityToken">;
  readonly redactor: Redactor;
  readonly log: Log;
  /** The directory of steps, on the host and as commands see it. */
  readonly host: Pick<WorkspacePaths, "steps">;
  readonly inside: Pick<WorkspacePaths, "steps">;
}

interface TokenFile {
  readonly name: string;
  readonly audience: string;
}

/**
 * Writes the identity tokens that the SDKs of cloud providers exchange for credentials, and renews them until it is closed.
 * @throws SetupError if the deployment issues none
 */
export async function openProviderTokens(providers: Providers, context: Context): Promise<{ close(): void }> {
  const { gcp } = providers;
  const files: TokenFile[] = [
    ...(providers.aws === undefined ? [] : [{ name: AWS_TOKEN, audience: AWS_AUDIENCE }]),
    ...(gcp === undefined ? [] : [{ name: GCP_TOKEN, audience: `https:${toGcpAudience(gcp)}` }]),
  ];
  try {
    if (gcp !== undefined) await replaceFile(GCP_CREDENTIALS, formatGcpCredentials(gcp, context.inside), context);
    await writeTokens(files, context);
  } catch (error) {
    throw new SetupError(`The identity tokens for the environment's providers are missing: ${formatError(error)}`);
  }
  let renewedAt = Date.now();
  const timer = setInterval(async () => {
    if (Date.now() - renewedAt < RENEW_AFTER_MS) return;
    try {
      await writeTokens(files, context);
      renewedAt = Date.now();
    } catch (error) {
      context.log("warn", context.redactor.text(formatError(error)));
    }
  }, CHECK_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

async function writeTokens(files: readonly TokenFile[], context: Context): Promise<void> {
  for (const { name, audience } of files) {
    const { token } = await context.plane.createIdentityToken(audience);
    context.redactor.add(token);
    await replaceFile(name, token, context);
  }
}

/** Replaces a file at once: a program that reads it gets the old content or the new one. */
async function replaceFile(name: string, content: string, { host }: Context): Promise<void> {
  const draft = `${host.steps}/${name}-${randomUUID()}`;
  await writeFile(draft, content, { mode: 0o444, flag: "wx" });
  await rename(draft, `${host.steps}/${name}`);
}

type Gcp = NonNullable<Providers["gcp"]>;

const toGcpAudience = (gcp: Gcp): string =>
  `//iam.googleapis.com/projects/${gcp.project_number}/locations/global/workloadIdentityPools/${gcp.workload_identity_federation_pool_id}/providers/${gcp.workload_identity_federation_provider_id}`;

/** The format of AIP-4117: https://google.aip.dev/auth/4117. */
function formatGcpCredentials(gcp: Gcp, { steps }: Context["inside"]): string {
  const { service_account_email: account } = gcp;
  return JSON.stringify({
    type: "external_account",
    audience: toGcpAudience(gcp),
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: GOOGLE_STS,
    credential_source: { file: `${steps}/${GCP_TOKEN}` },
    ...(account === undefined
      ? {}
      : {
          service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
        }),
  });
}
