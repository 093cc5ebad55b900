import { createOutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { setting } from "#shared/settings.ts";
import type { SystemPorts } from "#shared/triggers/systems/call-system.ts";
import { SYSTEM_MS } from "#shared/triggers/systems/system-api.ts";
import { createVault } from "./common.ts";

/** The ports of the function that calls other systems: secrets, and the addresses that the operator has set. */
export const createSystemPorts = (): SystemPorts => ({
  vault: createVault(),
  // The operator chooses the addresses, which may be those of a private network.
  fetch: createOutwardFetch({ allowsPrivate: true, timeoutMs: SYSTEM_MS }),
  addresses: {
    github: setting("GITHUB_API_URL"),
    gitlab: setting("GITLAB_API_URL"),
    slack: setting("SLACK_API_URL"),
  },
  now: Date.now,
  access: new Map(),
});
