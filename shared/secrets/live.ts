import { ssmClient } from "#shared/aws/clients.ts";
import { ssmSecretVault } from "#shared/aws/ssm-secret-vault.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { liveIdentities } from "#shared/identities/live.ts";
import { setting } from "#shared/settings.ts";
import type { SecretPorts } from "./ports.ts";

/** The ports of secrets on AWS. */
export const liveSecrets = (): SecretPorts & HttpPorts => ({
  ...liveIdentities(),
  vault: ssmSecretVault(ssmClient(), () => setting("SECRETS_PATH")),
});
