import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ListTriggerDeliveriesResponse, TriggerItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { byCursor } from "../api/pages.ts";
import { collect } from "../api/queries.ts";
import type { Outcome } from "./trigger-texts.ts";

const PAGE_SIZE = 20;
const POLL_MS = 5000;

export const triggersQuery = queryOptions({
  queryKey: ["triggers"],
  refetchInterval: 15_000,
  queryFn: ({ signal }) => collect(client.triggers.list({}, { signal })),
});

export const triggerQuery = (uid: string) =>
  queryOptions({
    queryKey: ["triggers", uid],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => client.triggers.retrieve(uid, { signal }),
  });

/** The deliveries of a trigger, newest first: those of one outcome, or all. */
export const deliveriesQuery = ({ uid }: Pick<TriggerItem, "uid">, outcome: Outcome | undefined) =>
  infiniteQueryOptions({
    queryKey: ["triggers", uid, "deliveries", outcome ?? "all"],
    queryFn: async ({ pageParam, signal }): Promise<ListTriggerDeliveriesResponse> => {
      const cursor = pageParam === undefined ? {} : { cursor: pageParam };
      const selected = outcome === undefined ? {} : { outcome };
      return (await client.triggers.deliveries(uid, { limit: PAGE_SIZE, ...selected, ...cursor }, { signal })).body;
    },
    ...byCursor,
    // All pages that are shown are read again, so the more there are the less often.
    refetchInterval: ({ state }) => POLL_MS * (state.data?.pages.length ?? 1),
  });

export const deliveryQuery = (uid: string, deliveryId: string) =>
  queryOptions({
    queryKey: ["triggers", uid, "delivery", deliveryId],
    queryFn: ({ signal }) => client.triggers.retrieveDelivery(uid, deliveryId, { signal }),
  });
