import { Environments, Identities, Token } from "../clients/typescript/src/generated/resources.ts";
import type { ClientOptions, Runyard } from "../clients/typescript/src/index.ts";
import { Artifacts } from "../clients/typescript/src/resources/artifacts.ts";
import { Runs } from "../clients/typescript/src/resources/runs.ts";
import { Transport } from "../clients/typescript/src/transport.ts";

export type ActionClient = Pick<Runyard, "runs" | "artifacts" | "environments" | "identities" | "token">;

/** What the action calls of the client, and no more: so the file that GitHub runs changes when these do, and only then. */
export function createClient(options: ClientOptions): ActionClient {
  const transport = new Transport(options);
  return {
    runs: new Runs(transport),
    artifacts: new Artifacts(transport),
    environments: new Environments(transport),
    identities: new Identities(transport),
    token: new Token(transport),
  };
}
