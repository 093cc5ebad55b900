import type { Message } from "#shared/wire/conversation.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { BackgroundCommands } from "../commands/background-commands.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import type { Shell } from "../commands/shell.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Clone } from "../git/clone.ts";
import type { Watch } from "../isolation/resource-watch.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import type { Egress } from "../network/egress.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LiveOutput } from "../reporting/live-output.ts";
import type { Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "../setup/run-context.ts";
import type { Log } from "../support/log.ts";
import type { Slice } from "../support/time-slice.ts";

/** What an agent works with, besides its instructions. */
export interface AgentWork {
  readonly envelope: Envelope;
  readonly context: RunContext;
  /** The run's secrets, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The run's `base_prompt`. */
  readonly basePrompt: string | undefined;
  /** The first instructions of the run: its skills, then its prompt. */
  readonly opening: readonly string[];
  readonly plane: ControlPlane;
  readonly outbox: Outbox;
  /** The recorded conversation, which grows with each message that is sent. */
  readonly conversation: readonly Message[];
  readonly live: LiveOutput;
  readonly redactor: Redactor;
  readonly log: Log;
  readonly runner: CommandRunner;
  readonly shell: Shell;
  readonly background: BackgroundCommands;
  /** Watches what all commands of the execution use together. */
  readonly watch?: Watch | undefined;
  readonly sandbox: Sandbox;
  /** Which hosts the run may call. */
  readonly egress: Egress;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  /** Where the first command starts, as commands see it. */
  readonly workingDirectory: string;
  readonly clones: readonly Clone[];
  readonly slice: Slice;
  /** Aborted when the execution stops. */
  readonly signal: AbortSignal;
  /** Aborted when the current turn is interrupted. */
  readonly turn: () => AbortSignal;
}
