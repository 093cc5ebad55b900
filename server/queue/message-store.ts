import { randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { MAX_RESTARTS } from "#shared/records/run.ts";
import type { Database } from "../database/database.ts";
import { type QueueDefinition, toDeadLetterQueue } from "./queue-names.ts";

const INSERT = `
  INSERT INTO messages (message_id, queue, message_group, body, sent_at, visible_at) VALUES (?, ?, ?, ?, ?, ?)`;
const NEXT_GROUP = "SELECT MIN(message_group) AS message_group FROM messages WHERE queue = ? AND message_group > ?";
const FIRST_GROUP = "SELECT MIN(message_group) AS message_group FROM messages WHERE queue = ?";
const OLDEST = `
  SELECT id, message_id, message_group, body, sent_at, first_received_at, receives FROM messages
  WHERE queue = ? AND message_group = ? AND visible_at <= ? ORDER BY visible_at, id LIMIT 1`;
const CLAIM = `
  UPDATE messages SET receives = receives + 1, receipt = ?, visible_at = ?,
    first_received_at = COALESCE(first_received_at, ?) WHERE id = ?`;
const BURY = `
  UPDATE messages SET queue = ?, visible_at = ?, receives = 0, interrupted = 0, receipt = NULL WHERE id = ?`;
const COMPLETE = "DELETE FROM messages WHERE id = ? AND receipt = ?";
const RETURN = "UPDATE messages SET receipt = NULL WHERE id = ? AND receipt = ?";
/** A restart does not count as a failure of the message, unless every delivery of the message ends in a restart. */
const RELEASE_ALL = `
  UPDATE messages SET receipt = NULL, visible_at = ?, interrupted = interrupted + 1,
    receives = CASE WHEN interrupted < ${MAX_RESTARTS} THEN receives - 1 ELSE receives END
  WHERE receipt IS NOT NULL`;
const REDRIVE = `
  UPDATE messages SET queue = ?, visible_at = ?, receives = 0, interrupted = 0 WHERE queue = ? AND receipt IS NULL`;
const NEXT_TIME = "SELECT MIN(visible_at) AS time FROM messages WHERE queue = ? AND visible_at > ?";
const DEPTH = `
  SELECT COUNT(*) AS total, COUNT(receipt) AS in_flight, MIN(sent_at) AS oldest FROM messages WHERE queue = ?`;
const PURGE = "DELETE FROM messages WHERE sent_at < ?";

const GroupRow = v.object({ message_group: v.nullable(v.string()) });
const MessageRow = v.object({
  id: v.number(),
  message_id: v.string(),
  message_group: v.string(),
  body: v.string(),
  sent_at: v.number(),
  first_received_at: v.nullable(v.number()),
  receives: v.number(),
});
const TimeRow = v.object({ time: v.nullable(v.number()) });
const DepthRow = v.object({ total: v.number(), in_flight: v.number(), oldest: v.nullable(v.number()) });
type Candidate = v.InferOutput<typeof MessageRow>;

/** A message that was delivered to a consumer. */
export interface Delivery {
  readonly id: number;
  readonly messageId: string;
  readonly group: string;
  readonly body: string;
  readonly sentAt: number;
  readonly firstReceivedAt: number;
  /** This delivery included. */
  readonly receives: number;
  /** Identifies this delivery. An older receipt can no longer complete the message. */
  readonly receipt: string;
}

export interface NewMessage {
  readonly queue: string;
  readonly group: string;
  readonly body: string;
  readonly visibleAt: number;
}

/** Decides which of two groups is served first. */
export type CompareGroups = (a: string, b: string) => number;

/** Finds and claims the messages of a queue. Times are milliseconds. */
function messageReader(database: Database, now: () => number) {
  /** Returns the oldest visible message of each group. */
  function candidates(queue: string): Candidate[] {
    const found: Candidate[] = [];
    for (let group = groupAfter(queue, undefined); group !== null; group = groupAfter(queue, group)) {
      const row = database.statement(OLDEST).get(queue, group, now());
      if (row !== undefined) found.push(v.parse(MessageRow, row));
    }
    return found;
  }

  function groupAfter(queue: string, group: string | undefined): string | null {
    const row =
      group === undefined
        ? database.statement(FIRST_GROUP).get(queue)
        : database.statement(NEXT_GROUP).get(queue, group);
    return v.parse(GroupRow, row).message_group;
  }

  function claim({ visibilitySeconds }: QueueDefinition, message: Candidate): Delivery {
    const time = now();
    const receipt = `AQEB${randomBytes(24).toString("base64")}`;
    database.statement(CLAIM).run(receipt, time + visibilitySeconds * 1000, time, message.id);
    return {
      id: message.id,
      messageId: message.message_id,
      group: message.message_group,
      body: message.body,
      sentAt: message.sent_at,
      firstReceivedAt: message.first_received_at ?? time,
      receives: message.receives + 1,
      receipt,
    };
  }

  return { candidates, claim };
}

/** Stores messages in the database. Times are milliseconds. */
export function messageStore(database: Database, now: () => number) {
  const { candidates, claim } = messageReader(database, now);
  return {
    /** Adds a message. Resolves when it is on the disk. */
    async add({ queue, group, body, visibleAt }: NewMessage): Promise<void> {
      await database.write(() => database.statement(INSERT).run(randomUUID(), queue, group, body, now(), visibleAt));
    },

    /** Adds a message without waiting for the disk. A power failure may lose it. */
    addUnsynced(message: NewMessage): void {
      database.writeUnsynced(() => this.addInTransaction(message));
    },

    /** Adds a message in the transaction that the caller is in. */
    addInTransaction({ queue, group, body, visibleAt }: NewMessage): void {
      database.statement(INSERT).run(randomUUID(), queue, group, body, now(), visibleAt);
    },

    /**
     * Receives the next message of the groups that are accepted, if there is one. Messages that reached the receive limit are moved to the dead letters;
     * `buried` is true if there were any.
     */
    take(
      queue: QueueDefinition,
      compare: CompareGroups,
      accepts: (group: string) => boolean,
    ): { delivery: Delivery | undefined; buried: boolean } {
      return database.writeUnsynced(() => {
        let buried = false;
        while (true) {
          const [first] = candidates(queue.name)
            .filter(({ message_group }) => accepts(message_group))
            .sort((a, b) => compare(a.message_group, b.message_group) || a.id - b.id);
          if (first === undefined) return { delivery: undefined, buried };
          if (queue.maxReceives === undefined || first.receives < queue.maxReceives) {
            return { delivery: claim(queue, first), buried };
          }
          database.statement(BURY).run(toDeadLetterQueue(queue.name), now(), first.id);
          buried = true;
        }
      });
    },

    /** Deletes a message that was handled. */
    complete({ id, receipt }: Delivery): void {
      database.writeUnsynced(() => database.statement(COMPLETE).run(id, receipt));
    },

    /** Returns a message to its queue; it is delivered again after its visibility time-out, as in SQS. */
    giveBack({ id, receipt }: Delivery): void {
      database.writeUnsynced(() => database.statement(RETURN).run(id, receipt));
    },

    /** Makes the messages visible that a previous process was handling when it ended. */
    releaseAll(): void {
      database.writeUnsynced(() => database.statement(RELEASE_ALL).run(now()));
    },

    /** Returns when the next message of a queue becomes visible after a time. */
    nextTime(queue: string, after: number): number | undefined {
      return v.parse(TimeRow, database.statement(NEXT_TIME).get(queue, after)).time ?? undefined;
    },

    /** Moves the dead letters of a queue back to it; resolves with their number. */
    redrive: (queue: string): Promise<number> =>
      database.write(() => Number(database.statement(REDRIVE).run(queue, now(), toDeadLetterQueue(queue)).changes)),

    depth: (queue: string): Promise<v.InferOutput<typeof DepthRow>> =>
      database.read(() => v.parse(DepthRow, database.statement(DEPTH).get(queue))),

    /** Deletes the messages sent before a time; resolves with their number. */
    purge: (before: number): Promise<number> =>
      database.write(() => Number(database.statement(PURGE).run(before).changes)),
  };
}
export type MessageStore = ReturnType<typeof messageStore>;
