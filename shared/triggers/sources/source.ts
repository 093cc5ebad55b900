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

/** Where replies to an event go. Members are absent where the event has no such place. */
export interface ReplyPlaces {
  /** The thread, in which the comment of a run is. */
  readonly thread?: ReplyPlace;
  /** What the event is about, which gets a reaction. */
  readonly message?: ReplyPlace;
  /** True for an event of a pull request, whose head commit gets a status. */
  readonly isPull?: boolean;
  /** Whether people outside of the team may read the thread. What the event does not tell counts as public. */
  readonly isPublic: boolean;
}

/** Where something is in the system: see Place. */
interface ReplyPlace {
  readonly container: string;
  readonly item: string;
}

/** The pull or merge request that an event is about. Members are absent or "" where the event does not tell them. */
export interface PullRequest {
  /** The address of its page. */
  readonly url: string;
  readonly number: string;
  /** What it is now. */
  readonly status?: "open" | "draft" | "merged" | "closed";
  /** When it became that, as a text that sorts by time. */
  readonly changedAt: string;
  readonly head?: PullHead;
  /** True for a comment or a review, which the run that has opened the pull request answers. */
  readonly isComment?: boolean;
}

/** The commits that a pull request is to merge. */
export interface PullHead {
  /** The branch, which is in another repository if that is a fork. */
  readonly branch: string;
  readonly isFork: boolean;
}

/** A button of a reply that somebody has pressed. */
export interface Press {
  readonly action: "answer" | "stop" | "open";
  /** The run of the button, as the message says. */
  readonly runId: string;
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
  /** Where replies go; absent where the system gets none. */
  readonly toPlaces?: (event: TriggerEvent) => ReplyPlaces;
  /** The pull request that an event is about; undefined for other events. */
  readonly toPull?: (event: TriggerEvent) => PullRequest | undefined;
  /** The button of a reply that the event is about; undefined for other events. */
  readonly toPress?: (event: TriggerEvent) => Press | undefined;
  /** Whether this service has caused the event by a reply. */
  readonly isOwn?: (event: TriggerEvent) => boolean;
}
