/** The parameters of the two vaults: that of the secrets of teams, and that of the secrets of webhooks and triggers. */
export const VAULT_PARAMETERS = {
  secrets: {
    /** The parameter that holds the keys. */
    keys: "/runyard/vault/secrets",
    /** Begins the names of all parameters in which an earlier release stored values. */
    formerPath: "/runyard/secrets",
  },
  webhookSecrets: { keys: "/runyard/vault/webhook-secrets", formerPath: "/runyard/webhook-secrets" },
} as const;
