import { infiniteQueryOptions, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type {
  DeliveryItem,
  ListDeliveriesResponse,
  RedeliverResponse,
  WebhookItem,
} from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { byCursor } from "../api/pages.ts";
import { schedulesQuery, webhooksQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { triggersQuery } from "../triggers/trigger-queries.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formatDuration, plural, toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { Empty, InlineError } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { isSuccess } from "./delivery-attempts.ts";

const PAGE_SIZE = 20;
const POLL_MS = 4000;

const STATES = ["all", "pending", "delivered", "failed"] as const;
type Shown = (typeof STATES)[number];

const deliveriesQuery = ({ uid, scope }: WebhookItem, shown: Shown) =>
  infiniteQueryOptions({
    queryKey: [...webhooksQuery(scope.uid).queryKey, uid, "deliveries", shown],
    queryFn: async ({ pageParam, signal }): Promise<ListDeliveriesResponse> => {
      const cursor = pageParam === undefined ? {} : { cursor: pageParam };
      const query = { limit: PAGE_SIZE, ...(shown === "all" ? {} : { state: shown }), ...cursor };
      const page = client.webhooks.deliveries(uid, query, { team: scope.uid, signal });
      return (await page).body;
    },
    ...byCursor,
    // All pages that are shown are read again, so the more there are the less often.
    refetchInterval: ({ state }) => POLL_MS * (state.data?.pages.length ?? 1),
  });

interface WebhookDeliveriesProps {
  readonly webhook: WebhookItem;
  readonly onClose: () => void;
}

/** The deliveries of a webhook with their attempts, newest first, kept up to date while they are shown. */
export function WebhookDeliveries({ webhook, onClose }: WebhookDeliveriesProps) {
  const [shown, setShown] = useState<Shown>("all");
  const deliveries = deliveriesQuery(webhook, shown);
  const query = useInfiniteQuery(deliveries);
  const redeliver = useMutation({
    mutationFn: (from: number) => redeliverFrom(webhook, from),
    onSettled: () => refreshQueries({ queryKey: deliveries.queryKey.slice(0, -1) }),
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Deliveries to ${webhook.name ?? webhook.url}`}
      description="Redelivery sends a delivery and all later ones again, also those that were delivered."
      wide
    >
      <fieldset className="views">
        <legend className="visually-hidden">State of the deliveries</legend>
        {STATES.map((one) => (
          <button key={one} type="button" className="view" aria-pressed={one === shown} onClick={() => setShown(one)}>
            {toWords(one)}
          </button>
        ))}
      </fieldset>
      <InlineError error={redeliver.error} />
      {redeliver.data !== undefined && (
        <p role="status">{plural(redeliver.data, "delivery", "deliveries")} will be sent again within a minute.</p>
      )}
      <PagedList
        query={query}
        rows={3}
        empty={
          <Empty title={shown === "all" ? "No deliveries" : `No ${shown} deliveries`}>
            <p>{shown === "all" ? "Nothing was sent in the last seven days." : "None of the last seven days."}</p>
          </Empty>
        }
      >
        {(page) =>
          page.deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.sequence}
              delivery={delivery}
              isRedelivering={redeliver.isPending && redeliver.variables === delivery.sequence}
              onRedeliver={() => redeliver.mutate(delivery.sequence)}
            />
          ))
        }
      </PagedList>
    </Dialog>
  );
}

/** Sends the deliveries from a number on again, and returns how many there are. */
async function redeliverFrom({ uid, scope }: WebhookItem, from: number): Promise<number> {
  let count = 0;
  for (let next: number | undefined = from; next !== undefined; ) {
    const part: RedeliverResponse = await client.webhooks.redeliver(uid, { from_sequence: next }, { team: scope.uid });
    count += part.redelivered;
    next = part.next_sequence;
  }
  return count;
}

const TONES: Readonly<Record<DeliveryItem["state"], string>> = {
  pending: "tone-waiting",
  delivered: "tone-good",
  failed: "tone-bad",
};

/** What the event of a delivery is about. */
function Subject({ run_id, schedule_id, trigger_uid }: DeliveryItem) {
  if (run_id === undefined && schedule_id !== undefined) return <ScheduleLink id={schedule_id} />;
  if (run_id === undefined) return <TriggerLink uid={trigger_uid ?? ""} />;
  return (
    <>
      Run{" "}
      <Link to="/runs/$runId" params={{ runId: run_id }}>
        {run_id}
      </Link>
    </>
  );
}

function ScheduleLink({ id }: { readonly id: string }) {
  const schedule = useQuery(schedulesQuery).data?.find((one) => one.id === id);
  return (
    <>
      Schedule{" "}
      <Link to="/schedules/$scheduleId" params={{ scheduleId: id }}>
        {revealHidden(schedule?.name ?? id)}
      </Link>
    </>
  );
}

function TriggerLink({ uid }: { readonly uid: string }) {
  const trigger = useQuery(triggersQuery).data?.find((one) => one.uid === uid);
  return (
    <>
      Trigger{" "}
      <Link to="/triggers/$triggerUid" params={{ triggerUid: uid }}>
        {revealHidden(trigger?.name ?? uid)}
      </Link>
    </>
  );
}

interface DeliveryRowProps {
  readonly delivery: DeliveryItem;
  readonly isRedelivering: boolean;
  readonly onRedeliver: () => void;
}

const DeliveryRow = ({ delivery, isRedelivering, onRedeliver }: DeliveryRowProps) => (
  <li className="item">
    <div className="item-main">
      <span className="item-title">{toWords(delivery.event_type)}</span>
      <p className="item-facts">
        <span>
          <Subject {...delivery} />
        </span>
        <Time at={delivery.created_at} />
      </p>
      {delivery.attempts.length === 0 && <p className="item-facts faint">Not attempted yet</p>}
      {delivery.attempts.toReversed().map(({ attempted_at, duration_ms, status_code, error }) => (
        <p key={attempted_at} className="item-facts">
          <span className={isSuccess(status_code) ? "" : "field-error"}>
            {status_code === undefined ? revealHidden(error ?? "no response") : `HTTP ${status_code}`}
          </span>
          <span className="faint">after {formatDuration(duration_ms)}</span>
          <Time at={attempted_at} />
        </p>
      ))}
      {delivery.next_attempt_at !== undefined && (
        <p className="item-facts">
          <span>
            Next attempt <Time at={delivery.next_attempt_at} />
          </span>
        </p>
      )}
    </div>
    <span className={`badge ${TONES[delivery.state]}`}>{toWords(delivery.state)}</span>
    <Button small busy={isRedelivering} onClick={onRedeliver}>
      Redeliver from {delivery.sequence}
    </Button>
  </li>
);
