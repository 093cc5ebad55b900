/** The parameters of the two vaults: that of the secrets of teams, and that of the secrets of webhooks and triggers. */
export const vaultParameters = (prefix: string) => ({
  secrets: {
    /** The parameter that holds the keys. */
    keys: `/${prefix}/vault/secrets`,
    /** Begins the names of all parameters in which an earlier release stored values. */
    formerPath: `/${prefix}/secrets`,
  },
  webhookSecrets: { keys: `/${prefix}/vault/webhook-secrets`, formerPath: `/${prefix}/webhook-secrets` },
});
