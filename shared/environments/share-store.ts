import { keys, type Owner } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { guestAttribute } from "./environment.ts";
import { deleteEntry, putEntry } from "./environment-store.ts";

/** A person with whom an environment is shared, and since when. */
interface Guest {
  readonly user: string;
  readonly since: number;
}

const toScope = ({ user }: Pick<Guest, "user">): Owner => ({ type: "User", uid: user });

/** Changes of with whom an environment is shared. Each request's `idempotency` record is written with its effect. */
export function shareStore(table: Table) {
  return {
    isUser: async (uid: string): Promise<boolean> => (await table.get(keys.user(uid))) !== undefined,

    /** Records a request that finds the environment shared already. @throws ConflictError if the `idempotency` record exists */
    keep: (idempotency: Put): Promise<void> => transact(table, { idempotency }),

    /** @throws ConflictError if the `idempotency` record exists, or the environment has changed or has `maxGuests` guests (`guest`) */
    addGuest(uid: string, guest: Guest, maxGuests: number, idempotency: Put): Promise<void> {
      const attribute = guestAttribute(guest.user);
      return transact(table, {
        idempotency,
        guest: {
          kind: "update",
          key: keys.environment(uid),
          set: { [attribute]: guest.since },
          add: { guests: 1 },
          if: { name: { exists: true }, [attribute]: { exists: false }, guests: { absentOr: { below: maxGuests } } },
        },
        entry: putEntry(toScope(guest), uid),
      });
    },

    /** @throws ConflictError if the person is no guest of the environment */
    removeGuest(uid: string, user: string): Promise<void> {
      const attribute = guestAttribute(user);
      return transact(table, {
        guest: {
          kind: "update",
          key: keys.environment(uid),
          add: { guests: -1 },
          remove: [attribute],
          if: { [attribute]: { exists: true } },
        },
        entry: deleteEntry(toScope({ user }), uid),
      });
    },

    /** Replaces the environment's link. @throws ConflictError if the `idempotency` record exists, or there is no `environment` */
    setLink(uid: string, hash: string, idempotency: Put): Promise<void> {
      return transact(table, {
        idempotency,
        environment: {
          kind: "update",
          key: keys.environment(uid),
          set: { link_hash: hash },
          if: { pk: { exists: true } },
        },
      });
    },

    /** @throws ConditionFailed if there is no environment */
    removeLink: (uid: string): Promise<void> =>
      table.write({
        kind: "update",
        key: keys.environment(uid),
        remove: ["link_hash"],
        if: { pk: { exists: true } },
      }),
  };
}
export type ShareStore = ReturnType<typeof shareStore>;
