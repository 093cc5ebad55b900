import type { CommandRunner } from "../commands/command-runner.ts";
import type { Workspace } from "../isolation/workspace.ts";
import type { Egress } from "../network/egress.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LiveOutput } from "../reporting/live-output.ts";
import type { Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "./run-context.ts";
import type { SetupSnapshots } from "./setup-snapshot.ts";

/** What the setup of a workspace needs. */
export interface SetupOptions {
  readonly context: RunContext;
  readonly workspace: Workspace;
  readonly outbox: Outbox;
  /** Shows the output of commands while they run. */
  readonly live: Pick<LiveOutput, "open">;
  readonly redactor: Redactor;
  readonly runner: CommandRunner;
  readonly egress: Egress;
  /** The workspace as commands see it. */
  readonly seen: string;
  /** Where commands start if there is no clone, as they see it. @default the workspace */
  readonly start?: string | undefined;
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
  /** Restores the workspace of an earlier execution, with its repositories and attachments. Returns false if there is none. */
  readonly restore: () => Promise<boolean>;
  /** Of the run's environment. @default none are made or used */
  readonly snapshots?: SetupSnapshots | undefined;
}
