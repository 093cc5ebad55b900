import { RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { AmbientAgentConfig, Repository, ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { namesWorker } from "./placement.ts";
import type { RunPorts } from "./run-ports.ts";
import type { Parent } from "./run-tree.ts";

/** A run whose own key creates a child run. */
interface Bounds {
  readonly config: ResolvedAgentConfig;
  readonly trigger?: RunBody["trigger"];
}

/** Finds what limits a run's own key: its own run, also where it creates a child of a descendant. Other principals have no such limits. */
export async function findBounds(
  principal: Principal,
  parent: Parent | undefined,
  { runs }: Pick<RunPorts, "runs">,
): Promise<Bounds | undefined> {
  if (principal.kind !== "run" || parent?.runId === principal.head.run_id) {
    return principal.kind === "run" ? parent : undefined;
  }
  const own = await runs.headAndBody(principal.head.run_id);
  if (own === undefined) throw new RunyardError("internal_error");
  return own.body;
}

/**
 * Refuses what a run's own key requests for a child beyond what the run has itself: any process in a sandbox may hold that key.
 * Identity, secrets and budget are checked where they are read.
 */
export function refuseBeyond(
  { config: requested = {}, execution_location }: Pick<RunAgentRequest, "config" | "execution_location">,
  { config: own, trigger }: Bounds,
): void {
  if (trigger?.is_fork === true) {
    throw new RunyardError("not_authorized", {
      detail:
        "a run of a fork's pull request creates no children, which would have the servers and tokens that it lacks",
    });
  }
  if (execution_location === "LOCAL") {
    throw new RunyardError("not_authorized", {
      detail: "execution_location: a run's own key creates no LOCAL runs, whose key it would be given; leave it out",
    });
  }
  if (requested.environment_id !== undefined && requested.environment_id !== own.environment_id) {
    throw beyond("environment_id", "work in the run's own environment");
  }
  if (namesWorker(requested.worker_host) && requested.worker_host !== own.worker_host) {
    throw beyond("worker_host", "work where the run itself does");
  }
  const foreign = requested.repositories?.findIndex((repository) => !hasRepository(own, repository)) ?? -1;
  if (foreign >= 0) throw beyond(`repositories[${foreign}]`, "have the run's own repositories");
  const access = requested.session_sharing?.public_access;
  if (access !== undefined && access !== own.session_sharing?.public_access) {
    throw beyond("session_sharing", "are shared as the run itself is");
  }
  for (const name of AUTH_SECRETS) {
    const secret = requested.harness_auth_secrets?.[name];
    if (secret === undefined || secret === own.harness_auth_secrets?.[name]) continue;
    throw beyond(`harness_auth_secrets.${name}`, "sign in as the run itself does");
  }
}

/** With submodules, a repository gives access to others of its owner. */
const hasRepository = ({ repositories = [] }: ResolvedAgentConfig, { url, submodules }: Repository): boolean =>
  repositories.some((own) => own.url === url && (submodules !== true || own.submodules === true));

const AUTH_SECRETS = ["claude_auth_secret_name", "codex_auth_secret_name"] as const;

const beyond = (member: string, what: string) =>
  new RunyardError("not_authorized", { detail: `config.${member}: a run's children ${what}` });

/** Sets the run's own environment and worker in the request, which no default replaces. */
export function withinRun<R extends { readonly config?: AmbientAgentConfig }>(request: R, { config: own }: Bounds): R {
  const { environment_id: _, worker_host: __, ...config } = request.config ?? {};
  const { environment_id, worker_host } = own;
  const inherited = {
    ...(environment_id === undefined ? {} : { environment_id }),
    // Not the worker of the environment, where the run itself has none.
    worker_host: worker_host ?? "hosted",
  };
  return { ...request, config: { ...config, ...inherited } };
}
