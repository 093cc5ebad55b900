import { readMember, refuseUnsupportedMembers, type UnsupportedMembers } from "./unsupported-members.ts";

const NO_RUNNERS = "set worker_host to select a self-hosted worker";
const NO_MEMORY = "put what the agent has to know into the prompt, a skill or a repository";

/** Members of runs and of what configures them. */
const OPTIONS: UnsupportedMembers = {
  runner_id: NO_RUNNERS,
  default_runner_uid: NO_RUNNERS,
  memory_stores: NO_MEMORY,
  "memory.attached_stores": NO_MEMORY,
  "memory.auto_memory.enabled": { supported: (value) => value !== true, remedy: `send false; ${NO_MEMORY}` },
  inference_providers: "an operator configures the providers of models",
  computer_use_model_id: "leave it out: no agent of this service uses a computer's screen",
  experimental: "leave it out",
  factory_uid: "leave it out: there are no factories",
  agent_type: { supported: (value) => value === "CUSTOM", remedy: "send CUSTOM, or leave it out" },
};

/** The kinds of resources that configure runs, and where their configuration is. */
const CONFIGURATIONS = {
  runs: "config",
  schedules: "agent_config",
  triggers: "agent_config",
  identities: "config",
  environments: "config",
} as const;

/**
 * Refuses options of newer clients that this version does not carry out, both of the request and of its configuration.
 * @throws RunyardError 422 naming the first one
 */
export function refuseUnsupportedOptions(sentBody: unknown, subject: keyof typeof CONFIGURATIONS): void {
  refuseUnsupportedMembers(sentBody, OPTIONS, subject);
  for (const name of new Set(["config", CONFIGURATIONS[subject]])) {
    refuseUnsupportedMembers(readMember(sentBody, name), OPTIONS, subject, name);
  }
  if (subject !== "runs") refuseUnsupportedMembers(sentBody, NOTIFICATIONS, subject);
  refuseUnsupportedMembers(
    readMember(sentBody, CONFIGURATIONS[subject]),
    NOTIFICATIONS,
    subject,
    CONFIGURATIONS[subject],
  );
  if (subject === "environments") refuseUnsupportedMembers(sentBody, OPTIONS_OF_ENVIRONMENTS, subject);
}

/** What is a member of the request that creates one run, and of nothing else. */
const NOTIFICATIONS: UnsupportedMembers = {
  notify_url: "send it as a member of POST /agent/runs, or create a webhook of the team",
};
const OPTIONS_OF_ENVIRONMENTS: UnsupportedMembers = {
  failure_session_retention_minutes: "leave it out: the sandbox of a failed run ends with the run",
};
