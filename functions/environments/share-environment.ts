import * as v from "valibot";
import type { EnvironmentPorts } from "#shared/environments/ports.ts";
import { shareEnvironment as share } from "#shared/environments/share-environment.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { liveIdentities } from "#shared/identities/live.ts";
import { ShareRequest, ShareResponse } from "#shared/wire/environment.ts";

/** POST /agent/environments/{environmentUid}/share: makes a person its guest, or a link that shows it. */
export const shareEnvironment = endpoint({
  request: { path: v.object({ environmentUid: PathId }), body: ShareRequest },
  reply: { 200: ShareResponse },
  async run({ path, body, principal }, ports: EnvironmentPorts) {
    return { status: 200, body: await share(path.environmentUid, body, principal, ports) };
  },
});

export const handler = shareEnvironment.lambda(liveIdentities);
