import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { SecretPorts } from "#shared/secrets/secret-ports.ts";
import { createTablePorts } from "./common.ts";
import { createVault } from "./vault.ts";

/** The ports of the endpoints that write the values of secrets. */
export const createSecretPorts = (): SecretPorts & HttpPorts => ({ ...createTablePorts(), vault: createVault() });
