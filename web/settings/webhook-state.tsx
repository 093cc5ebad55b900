import { queryOptions, useQuery } from "@tanstack/react-query";
import type { DeliveryItem, WebhookItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { webhooksQuery } from "../api/queries.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Time } from "../ui/time.tsx";
import { isSuccess, latestAttempt } from "./delivery-attempts.ts";

/** The deliveries of which the latest attempt is shown. */
const LATEST = 5;
/** Pages that are read to find the oldest delivery that waits. Each looks at thousands. */
const MAX_PAGES = 3;
const POLL_MS = 30_000;

const stateQuery = ({ uid, scope }: WebhookItem) =>
  queryOptions({
    queryKey: [...webhooksQuery(scope.uid).queryKey, uid, "state"],
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => {
      const options = { team: scope.uid, signal };
      const findOldest = async (): Promise<DeliveryItem | undefined> => {
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES; page++) {
          const query = { state: "pending", sort_order: "asc", limit: 1 } as const;
          const next = cursor === undefined ? {} : { cursor };
          const { body } = await client.webhooks.deliveries(uid, { ...query, ...next }, options);
          const [oldest] = body.deliveries;
          cursor = body.page_info?.next_cursor;
          if (oldest !== undefined || cursor === undefined) return oldest;
        }
        return undefined;
      };
      const [latest, oldest] = await Promise.all([
        client.webhooks.deliveries(uid, { limit: LATEST }, options),
        findOldest(),
      ]);
      const { deliveries } = latest.body;
      return { attempt: latestAttempt(oldest === undefined ? deliveries : [...deliveries, oldest]), oldest };
    },
  });

/** The latest attempt to deliver an event, and the oldest delivery that is pending. */
export function useWebhookState(webhook: WebhookItem) {
  const { attempt, oldest } = useQuery(stateQuery(webhook)).data ?? {};
  return { attempt, oldest, isFailing: attempt !== undefined && !isSuccess(attempt.status_code) };
}

/** The lines of a webhook that show the state of its deliveries. */
export function WebhookState({ attempt, oldest, isFailing }: ReturnType<typeof useWebhookState>) {
  return (
    <>
      {attempt !== undefined && (
        <p className={isFailing ? "field-error" : "item-facts"}>
          <span>
            Latest response:{" "}
            {attempt.status_code === undefined ? revealHidden(attempt.error ?? "none") : `HTTP ${attempt.status_code}`},{" "}
            <Time at={attempt.attempted_at} />
          </span>
        </p>
      )}
      {oldest !== undefined && (
        <p className={isFailing ? "field-error" : "item-facts"}>
          <span>
            Oldest undelivered event: <Time at={oldest.created_at} />
          </span>
        </p>
      )}
    </>
  );
}
