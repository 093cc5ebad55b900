import { setting } from "#shared/settings.ts";
import type { SystemPorts } from "#shared/triggers/systems/call-system.ts";
import { createObjectFetch, createSystemFetch, createTokenFetch } from "#shared/triggers/systems/system-api.ts";
import { createAppTokens } from "./github.ts";
import { createVault } from "./vault.ts";

/** The ports of the function that calls other systems: secrets, and the addresses that the operator has set. */
export const createSystemPorts = (): SystemPorts => ({
  vault: createVault(),
  appTokens: createAppTokens(),
  fetch: createSystemFetch(),
  objectFetch: createObjectFetch(),
  tokenFetch: createTokenFetch({ allowsPrivate: false }),
  addresses: {
    github: setting("GITHUB_API_URL"),
    gitlab: setting("GITLAB_API_URL"),
    slack: setting("SLACK_API_URL"),
  },
  now: Date.now,
  accessCache: new Map(),
});
