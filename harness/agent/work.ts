import type { Envelope } from "#shared/wire/harness.ts";
import type { ControlPlane } from "../api.ts";
import type { CommandRunner } from "../commands.ts";
import type { Clone } from "../git.ts";
import type { Log } from "../log.ts";
import type { Outbox } from "../outbox.ts";
import type { Redactor } from "../redact.ts";
import type { Sandbox, WorkspacePaths } from "../sandbox.ts";
import type { RunContext } from "../setup.ts";
import type { Shell } from "../shell.ts";
import type { Slice } from "../slice.ts";

/** What an agent works with, beside what it is asked. */
export interface AgentWork {
  readonly envelope: Envelope;
  readonly context: RunContext;
  /** The run's secrets, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What shapes the agent's behaviour: the run's `base_prompt`. */
  readonly basePrompt: string | undefined;
  /** What the run was asked at its beginning: skills, then its prompt. */
  readonly opening: readonly string[];
  readonly plane: ControlPlane;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  readonly log: Log;
  readonly runner: CommandRunner;
  readonly shell: Shell;
  readonly sandbox: Sandbox;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  /** Where the first command starts, as commands see it. */
  readonly workingDirectory: string;
  readonly clones: readonly Clone[];
  readonly slice: Slice;
  /** Aborted when the execution stops. */
  readonly signal: AbortSignal;
  /** Aborted when the turn under way is broken off. */
  readonly turn: () => AbortSignal;
}
