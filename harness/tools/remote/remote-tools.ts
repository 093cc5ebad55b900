import type { Envelope } from "#shared/wire/harness.ts";
import type { Shell } from "../../commands/shell.ts";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import type { Tool } from "../../engine/tool.ts";
import type { Watch } from "../../isolation/resource-watch.ts";
import type { Sandbox, WorkspacePaths } from "../../isolation/sandbox.ts";
import type { Egress } from "../../network/egress.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import type { Outbox } from "../../reporting/outbox.ts";
import { reportStep } from "../../setup/report-step.ts";
import type { RunContext } from "../../setup/run-context.ts";
import type { Slice } from "../../support/time-slice.ts";
import { askUserTool } from "./ask-user.ts";
import { createPlanTool } from "./create-plan.ts";
import { createPullRequestTool } from "./create-pull-request.ts";
import { listEnabledServers } from "./mcp-settings.ts";
import { createNotifyUserTool } from "./notify-user.ts";
import { createReportArtifactTool } from "./report-artifact.ts";
import { createRunsApi } from "./runs-api.ts";
import { createAgentTools } from "./start-agent.ts";
import { createWebFetch, createWebFetchTool } from "./web-fetch.ts";

export interface RemoteOptions {
  readonly envelope: Envelope;
  readonly plane: ControlPlane;
  readonly context: RunContext;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  readonly shell: Shell;
  readonly sandbox: Sandbox;
  /** Watches what all commands of the execution use together. */
  readonly watch?: Watch | undefined;
  /** Which hosts the run may call. */
  readonly egress: Egress;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  /** Where MCP servers start, as commands see it. */
  readonly workingDirectory: string;
  readonly slice: Slice;
  /** Aborted when the execution stops. */
  readonly signal: AbortSignal;
  /** The run's secrets, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Replaces the API of github.com. */
  readonly githubApiUrl?: string | undefined;
}

/** The tools of an agent that act outside its sandbox. */
export interface RemoteTools {
  readonly tools: readonly Tool[];
  /** Ends what was started for the tools. */
  close(): Promise<void>;
}

/** Creates the tools and connects the run's MCP servers. Each connection is an event of the timeline. */
export async function createRemoteTools(options: RemoteOptions): Promise<RemoteTools> {
  const { envelope, plane, context, redactor, shell, sandbox, host, slice, signal, secrets, githubApiUrl, egress } =
    options;
  const { mcp_servers: servers = {}, agent_config } = context;
  const mcp = listEnabledServers(servers).length === 0 ? undefined : await connectMcp(servers, options);
  const files = { shell, host, seen: sandbox.paths };
  const github = {
    repositories: agent_config.repositories ?? [],
    secrets,
    apiUrl: githubApiUrl,
    checkHost: egress.check,
  };
  return {
    tools: [
      createPlanTool({ plane, redactor, runId: envelope.run_id }),
      askUserTool,
      createNotifyUserTool({ plane, redactor }),
      createReportArtifactTool({ plane, redactor, ...files }),
      createPullRequestTool({ plane, redactor, github }),
      ...createAgentTools({ runs: createRunsApi(envelope, signal), context, waitUntil: slice.cutAt }),
      ...(egress.mode === "none" || !sandbox.network ? [] : [createWebFetchTool({ fetch: createWebFetch(egress) })]),
      ...(mcp === undefined ? [] : mcp.tools),
    ],
    close: async () => await mcp?.close(),
  };
}

/** Connects the MCP servers. The modules are loaded only by runs with servers. */
async function connectMcp(servers: NonNullable<RunContext["mcp_servers"]>, options: RemoteOptions) {
  const {
    envelope,
    plane,
    context,
    outbox,
    redactor,
    sandbox,
    watch,
    host,
    workingDirectory,
    slice,
    signal,
    secrets,
    egress,
  } = options;
  const [{ closeServers, connectServers }, { createMcpTools }, { createOutwardFetch }, { renewableValues }] =
    await Promise.all([
      import("./mcp-servers.ts"),
      import("./mcp-tools.ts"),
      import("./outward-fetch.ts"),
      import("./mcp-tokens.ts"),
    ]);
  const place = { sandbox, watch, host, workingDirectory, executionId: envelope.execution_id, redactor, signal };
  const outwardFetch = createOutwardFetch({
    loopback: process.env["RUNYARD_MCP_LOOPBACK"] === "allow",
    privateNetworks: process.env["RUNYARD_MCP_PRIVATE_NETWORKS"] === "allow",
  });
  const connected = await connectServers(servers, {
    ...place,
    values: renewableValues({
      ...{ plane, redactor, secrets: context.secrets ?? [] },
      values: { ...context.variables, ...secrets },
    }),
    fetch: async (url, init) => {
      egress.check(new URL(url).hostname);
      return await outwardFetch(url, init);
    },
    timed: (detail, work) => reportStep(outbox, "setup_mcp_servers", detail, work),
  });
  return {
    tools: createMcpTools(connected, { redactor, slice, readsOnly: context.mode === "plan" }),
    close: () => closeServers(connected),
  };
}
