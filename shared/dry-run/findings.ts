import { ERROR_GUIDE } from "#shared/docs/error-guide.ts";
import type { RunyardError } from "#shared/errors.ts";
import { findUnknownMembers } from "#shared/http/unknown-members.ts";
import { RUNBOOK_MODEL } from "#shared/models/models.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { counterStore } from "#shared/runs/capacity/counter-store.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Owner } from "#shared/table/keys.ts";
import { type Finding, RunAgentRequest, type RunAgentResponse } from "#shared/wire/runs/new-run.ts";
import { workerStore } from "#shared/workers/worker-store.ts";

/** The run that the request would create. */
interface PossibleRun {
  readonly response: Pick<RunAgentResponse, "at_capacity">;
  readonly owner: Owner;
  readonly body: RunBody;
}

type Ports = Pick<RunPorts, "table" | "now">;

/** A finding for what the request would be refused for. */
export const toErrorFinding = ({ code, message }: RunyardError): Finding => ({
  code,
  severity: "error",
  message,
  // A finding has no list of fields; its message names the field.
  remedy: code === "invalid_request" ? CORRECT_FIELD : ERROR_GUIDE[code].remedy,
});

const CORRECT_FIELD = "Correct the field that the message names, then send the request again.";

/** Unknown members that are listed; a request can have very many. */
const MAX_UNKNOWN = 20;

/** Findings about a request that do not refuse it; `run` is undefined where it is refused. */
export async function findRemarks(
  { body: request, sentBody }: { readonly body: RunAgentRequest; readonly sentBody?: unknown },
  run: PossibleRun | undefined,
  ports: Ports,
): Promise<Finding[]> {
  const ignored = [...findUnknown(sentBody), ...findIgnored(request)];
  if (run === undefined) return ignored;
  const found = await Promise.all([findWait(run, ports), findAbsentWorker(run, ports), findMissingSecrets(run, ports)]);
  return [...found.flat(), ...findRunbook(request, run), ...ignored];
}

const warning = (code: string, message: string, remedy: string): Finding => ({
  code,
  severity: "warning",
  message,
  remedy,
});
const info = (code: string, message: string, remedy: string): Finding => ({ code, severity: "info", message, remedy });

async function findWait({ response, owner }: PossibleRun, { table }: Ports): Promise<Finding[]> {
  if (response.at_capacity !== true) return [];
  const { running, queued } = await counterStore(table).read(owner);
  const counts = `${running} runs are executing and ${queued} are queued`;
  return [
    warning(
      "at_capacity",
      `the run would wait: the concurrency limit is reached (${counts})`,
      "Create the run, which starts when a slot is free, or raise the team's `concurrency_limit`.",
    ),
  ];
}

async function findAbsentWorker({ owner, body }: PossibleRun, ports: Ports): Promise<Finding[]> {
  const { worker_host } = body.config;
  if (worker_host === undefined || owner.type !== "Team" || body.execution_location === "LOCAL") return [];
  if ((await workerStore(ports).ofWorker(owner.uid, worker_host)).length > 0) return [];
  return [
    warning(
      "worker_not_connected",
      `config.worker_host: no worker ${worker_host} is connected; the run would stay queued until one is`,
      `Start the worker with the id ${worker_host}. GET /agent/connected-self-hosted-workers lists those that are connected.`,
    ),
  ];
}

/** Secrets without which the setup of the run's first execution fails. */
async function findMissingSecrets({ owner, body }: PossibleRun, { table }: Ports): Promise<Finding[]> {
  if (body.execution_location === "LOCAL") return [];
  const { secrets = [] } = body;
  const allowed = secrets.filter(({ refused }) => refused === undefined).map(({ name }) => name);
  const known = new Set((await secretStore(table).getMany(owner.uid, allowed)).map(({ name }) => name));
  return secrets
    .filter(({ name, refused }) => refused !== undefined || !known.has(name))
    .map(({ name, refused = "the team has no secret of this name" }) =>
      warning(
        "secret_not_available",
        `the run would fail with environment_setup_failed: secret ${name}: ${refused}`,
        "Create the secret, or remove it from the environment or identity.",
      ),
    );
}

/** What the model local/runbook cannot do, which executes fenced shell blocks only. */
function findRunbook(request: RunAgentRequest, { body }: PossibleRun): Finding[] {
  const { model_id, base_prompt = "", skill_spec } = body.config;
  if (model_id !== RUNBOOK_MODEL || body.execution_location === "LOCAL") return [];
  const { prompt = "", conversation_id, config = {} } = request;
  // Skills and the conversation so far may have blocks; without a fence, the prompt has none.
  const mayRun = skill_spec !== undefined || conversation_id !== undefined || /```|~~~/.test(prompt + base_prompt);
  if (!mayRun) {
    return [
      warning(
        "nothing_to_run",
        "the run would fail: its model local/runbook only runs fenced code blocks tagged sh, bash or shell, and the prompt has none",
        "Add such a block, or name another model in config.model_id.",
      ),
    ];
  }
  if (config.model_id !== undefined || config.harness?.model_id !== undefined) return [];
  return [
    info(
      "default_model",
      "config.model_id: the default model is local/runbook, which only runs fenced code blocks tagged sh, bash or shell",
      "Name another model in config.model_id if the task needs one. GET /agent/models lists the models.",
    ),
  ];
}

/** Members that this release does not know, such as misspelled ones. A request with them is valid, since newer clients may send them. */
const findUnknown = (sentBody: unknown) =>
  findUnknownMembers(RunAgentRequest, sentBody)
    .take(MAX_UNKNOWN)
    .map(({ path, similar }) =>
      warning(
        "unknown_member",
        `${path}: is not a member that this release knows, and has no effect`,
        similar === undefined ? `Correct its name, or leave ${path} out of the request.` : `Did you mean ${similar}?`,
      ),
    );

/** Members of the request that have no effect, or an older name. */
function* findIgnored({ config = {}, skill, images }: RunAgentRequest): Generator<Finding> {
  const ignored = (member: string, why: string) =>
    info("ignored_option", `${member}: ${why}`, `Leave ${member} out of the request.`);
  if (images !== undefined) {
    yield info("deprecated_option", "images: is the older name of attachments", "Send attachments instead.");
  }
  if (skill !== undefined && config.skills !== undefined) yield ignored("config.skills", "skill takes its place");
  if (skill !== undefined && config.skill_spec !== undefined) {
    yield ignored("config.skill_spec", "skill takes its place");
  }
  if (config.computer_use_enabled === true) yield ignored("config.computer_use_enabled", NO_EFFECT);
  if (config.credential_strategy) yield ignored("config.credential_strategy", NO_EFFECT);
}

const NO_EFFECT = "has no effect in this release";
