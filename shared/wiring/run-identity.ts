import { ssmClient } from "#shared/aws/clients.ts";
import { ssmKeySetStore } from "#shared/aws/ssm-key-set-store.ts";
import type { HttpPorts, PublicPorts } from "#shared/http/endpoint.ts";
import type { IdentityTokenPorts } from "#shared/run-identity/identity-token.ts";
import { type OwnIssuer, toIssuerUrl } from "#shared/run-identity/own-issuer.ts";
import { createSigningKeys, type SigningKeys } from "#shared/run-identity/signing-keys.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { setting } from "#shared/settings.ts";
import { createMetadataPorts } from "./docs.ts";
import { createRunEndpointPorts } from "./runs.ts";

const createKeys = (): SigningKeys =>
  createSigningKeys(
    ssmKeySetStore(ssmClient(), () => `${setting("IDENTITY_KEYS_PATH")}/ring`),
    Date.now,
  );

/** The ports of the endpoint that publishes the keys. */
export const createKeySetPorts = (): OwnIssuer & PublicPorts & { readonly signingKeys: SigningKeys } => ({
  ...createMetadataPorts(),
  signingKeys: createKeys(),
});

/** The ports of the endpoint that signs identity tokens. */
export function createIdentityTokenPorts(): IdentityTokenPorts & RunPorts & HttpPorts {
  const ports = createRunEndpointPorts();
  return { ...ports, issuerUrl: toIssuerUrl(ports.baseUrl), signingKeys: createKeys() };
}
