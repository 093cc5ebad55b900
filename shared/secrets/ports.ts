import type { IdentityPorts } from "#shared/identities/ports.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/** What the rules of secrets need from the world. */
export interface SecretPorts extends IdentityPorts {
  readonly vault: SecretVault;
}
