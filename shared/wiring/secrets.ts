import { ssmClient } from "#shared/aws/clients.ts";
import { ssmSecretVault } from "#shared/aws/ssm-vault.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { SecretPorts } from "#shared/secrets/ports.ts";
import { setting } from "#shared/settings.ts";
import { liveIdentities } from "./identities.ts";

/** The ports of secrets on AWS. */
export const liveSecrets = (): SecretPorts & HttpPorts => ({
  ...liveIdentities(),
  vault: ssmSecretVault(ssmClient(), () => setting("SECRETS_PATH")),
});
