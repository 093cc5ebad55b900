import type { ResolvePromptResponse } from "#shared/wire/harness.ts";
import type { InjectedSecret } from "#shared/wire/secrets/injected-secret.ts";
import { addCommitHookTemplate, toCoAuthorVariable } from "../git/co-author.ts";
import { CREDENTIALS_SECRET } from "../images/registry-credentials.ts";
import { createMarker } from "../isolation/processes.ts";
import type { Sandbox, SandboxImage } from "../isolation/sandbox.ts";
import { setCommitAuthor, type Workspace } from "../isolation/workspace.ts";
import { createEgress, type Egress } from "../network/egress.ts";
import type { RunContext } from "../setup/run-context.ts";
import { Stop } from "../support/stop.ts";
import { findAgentFolder, findThirdPartyAgent } from "../third-party/agents.ts";
import { listServerSecrets } from "../tools/remote/mcp-secrets.ts";
import { loadEngine, type MakeEngine } from "./load-engine.ts";
import type { SessionContext } from "./session-context.ts";

/** What the control plane says about the run, and where the run executes. */
export interface ResolvedRun {
  readonly resolved: ResolvePromptResponse;
  readonly context: RunContext;
  /** Values by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The secret with credentials for the registry of the image, which commands do not get. */
  readonly registryCredentials: string | undefined;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Creates the sandbox of the run in an image. */
  readonly enter: (image: SandboxImage) => Sandbox;
  /** The image in which commands run. @default they run among the programs of the host, or the sandbox is a container of the image */
  readonly image?: {
    readonly digest: string;
    /** Where commands of a run without repositories start. @default the workspace */
    readonly directory?: string;
    /** Ends the mounts of its root. */
    close(): Promise<void>;
  };
  /** Which hosts the run may call. */
  readonly egress: Egress;
  /** Removes the network of a run whose environment limits it. */
  closeNetwork(): Promise<void>;
  readonly modelId: string | undefined;
  /** Loads while the workspace is prepared. */
  readonly makeEngine: Promise<MakeEngine>;
}

/** Makes the first call of the execution, redacts the run's secrets from then on, and starts to load the engine. */
export async function resolveRun({ envelope, plane, host, log, redactor }: SessionContext): Promise<ResolvedRun> {
  const [resolved, { workspace, sandbox: createSandbox }] = await Promise.all([plane.resolvePrompt(), host]);
  const { context } = resolved;
  if (context === undefined) throw new Stop("unreachable", "the response of resolve-prompt has no context");
  const values = collectValues(context.secrets ?? []);
  const { [CREDENTIALS_SECRET]: registryCredentials, ...otherSecrets } = values;
  const secrets = context.docker_image === undefined ? values : otherSecrets;
  for (const value of [...Object.values(values), ...listServerSecrets(context.mcp_servers)]) redactor.add(value);
  const { harness, commit_author: author } = context.agent_config;
  const agent = findThirdPartyAgent(harness);
  const programs = typeof agent === "object" ? findAgentFolder(agent) : undefined;
  if (context.creator !== undefined) addCommitHookTemplate(workspace.paths.home);
  if (author !== undefined) setCommitAuthor(workspace.paths.home, author);
  const network = await openRunNetwork(context);
  const { egress, limited } = network;
  const options = {
    runId: envelope.run_id,
    marker: createMarker(envelope.execution_id),
    secrets: { ...toCoAuthorVariable(context.creator), ...context.variables, ...secrets },
    ...(context.providers === undefined ? {} : { providers: context.providers }),
    ...(programs === undefined ? {} : { programs }),
    ...(limited === undefined ? {} : { limited }),
  };
  const sandbox = createSandbox(options);
  const enter = (image: SandboxImage) => createSandbox({ ...options, image });
  const modelId = context.agent_config.model_id;
  log("info", "resolved", { model_id: modelId, sandbox: sandbox.kind, network: sandbox.network });
  const makeEngine = loadEngine(modelId, agent);
  // A failure is reported to the code that awaits it later; the setup may end the execution before that.
  void makeEngine.catch(() => {});
  const closeNetwork = network.close;
  return {
    ...{ resolved, context, secrets, registryCredentials, workspace, sandbox, enter, egress, closeNetwork },
    ...{ modelId, makeEngine },
  };
}

/** Few runs have a limited network, so the others do not load it. */
async function openRunNetwork({ network, agent_config }: RunContext) {
  if (network === undefined || network.mode === "open")
    return { egress: createEgress("open"), limited: undefined, close: async () => {} };
  const { limitNetwork } = await import("./limited-network.ts");
  return await limitNetwork(network, agent_config.repositories ?? []);
}

const collectValues = (secrets: readonly InjectedSecret[]): Record<string, string> =>
  Object.fromEntries(secrets.flatMap((secret) => ("value" in secret ? [[secret.name, secret.value]] : [])));
