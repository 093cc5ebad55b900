import { dynamoClient, ssmClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { ssmFormerSecrets } from "#shared/aws/ssm-former-secrets.ts";
import { ssmKeySetStore } from "#shared/aws/ssm-key-set-store.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import { createVaultKeys } from "#shared/vault/vault-keys.ts";

type Kind = "SECRETS" | "WEBHOOK_SECRETS";

/** The values of secrets of teams. */
export const createVault = (): SecretVault => openVault("SECRETS");

/** The secrets of webhooks and triggers, under a key apart from that of the secrets of teams. */
export const createWebhookSecrets = (): SecretVault => openVault("WEBHOOK_SECRETS");

/** Not the audited table: the item that names the value is what a request changes. */
function openVault(kind: Kind): SecretVault {
  const ssm = ssmClient();
  const keySet = ssmKeySetStore(
    ssm,
    () => setting(`${kind}_KEY`),
    () => settingIfAny("SECRETS_KMS_KEY"),
  );
  const table = dynamoTable(dynamoClient(), setting("TABLE_NAME"));
  return tableVault(
    table,
    createVaultKeys(keySet, Date.now),
    ssmFormerSecrets(ssm, () => setting(`${kind}_PATH`)),
  );
}
