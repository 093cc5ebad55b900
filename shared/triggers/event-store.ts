import * as v from "valibot";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import { TriggerEvent } from "#shared/wire/triggers/delivery.ts";
import type { ReceivedEvent } from "./event.ts";

const Stored = v.object({
  ...TriggerEvent.entries,
  external_id: v.exactOptional(v.string()),
  installation_id: v.exactOptional(v.number()),
  digests: v.tupleWithRest([v.string()], v.string()),
});

type Files = Pick<FileStore, "get" | "put">;

/** The events of deliveries, without the headers that they came with. Files are deleted after 30 days, as deliveries are. */
export const eventStore = (files: Files) => ({
  async add(trigger: string, delivery: string, { externalId, installationId, ...event }: ReceivedEvent): Promise<void> {
    const stored = {
      ...event,
      ...(externalId === undefined ? {} : { external_id: externalId }),
      ...(installationId === undefined ? {} : { installation_id: installationId }),
    };
    await files.put(fileKeys.triggerEvent(trigger, delivery), JSON.stringify(stored), "application/json");
  },

  /** Reads the event of a delivery; undefined for one of an earlier version, or where it is deleted. */
  async get(trigger: string, delivery: string): Promise<ReceivedEvent | undefined> {
    const file = await files.get(fileKeys.triggerEvent(trigger, delivery));
    if (file === undefined) return undefined;
    const stored = v.parse(Stored, JSON.parse(Buffer.from(file).toString()));
    const { external_id: externalId, installation_id: installationId, ...event } = stored;
    return { ...event, externalId, ...(installationId === undefined ? {} : { installationId }) };
  },
});
