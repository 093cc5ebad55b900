import type { RunSourceType } from "#shared/wire/run.ts";
import type { TriggerEvent } from "#shared/wire/triggers/delivery.ts";

type Payload = TriggerEvent["payload"];
export type ReadHeader = (name: string) => string | undefined;

/** What an event says about the rights of its author. */
export type Standing =
  /** The author may start runs. */
  | "trusted"
  /** The author is a bot or an application, which may start runs where the trigger names it. */
  | "bot"
  /** The other system would have to be asked what the author may do. */
  | "unknown"
  /** Nobody can have this event start runs, such as one of a fork. */
  | "refused";

/** What identifies an event. */
export interface EventIdentity {
  /** The id that the other system has for it. */
  readonly id?: string;
  /** Whether the signature covers the id. Where it does not, the body identifies the event too. */
  readonly isSigned: boolean;
  /** Whether equal bodies may be different events, so that only the id identifies them. */
  readonly hasEqualBodies?: boolean;
}

/** The account that caused an event, and where it needs rights. Members are "" where the event does not name them. */
export interface Account {
  /** The repository as `owner/name`, the id of the project, or the id of the Slack team. */
  readonly place: string;
  readonly account: string;
}

/** How the deliveries of one system are read. */
export interface Source {
  /** The source of the runs. */
  readonly runSource: RunSourceType;
  read(payload: Payload, header: ReadHeader): Omit<TriggerEvent, "payload">;
  identify(payload: Payload, header: ReadHeader): EventIdentity;
  /** What the event says about the rights of its author. */
  judge(event: TriggerEvent): Standing;
  /** Whose rights the system can be asked for, and where; absent where it cannot be asked. */
  readonly toAccount?: (event: TriggerEvent) => Account;
}
