import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import * as v from "valibot";
import type { TriggerDelivery, TriggerItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { PagedList } from "../ui/paged-list.tsx";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { deliveriesQuery, deliveryQuery, triggerQuery } from "./trigger-queries.ts";
import { describeReason, OUTCOME_NAMES, OUTCOMES, type Outcome } from "./trigger-texts.ts";

const Choice = v.picklist(["", ...OUTCOME_NAMES]);

/** The deliveries of a trigger, newest first, kept up to date while they are shown. */
export function Deliveries({ trigger }: { readonly trigger: TriggerItem }) {
  const [outcome, setOutcome] = useState<Outcome>();
  const [inspected, setInspected] = useState<TriggerDelivery>();
  const query = useInfiniteQuery(deliveriesQuery(trigger, outcome));
  const choose = (value: string) => {
    const choice = v.parse(Choice, value);
    setOutcome(choice === "" ? undefined : choice);
  };
  return (
    <section className="card" aria-label="Deliveries">
      <div className="card-head">
        <h2>Deliveries</h2>
        <select
          className="input"
          aria-label="Outcome"
          value={outcome ?? ""}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">All outcomes</option>
          {OUTCOME_NAMES.map((value) => (
            <option key={value} value={value}>
              {OUTCOMES[value].label}
            </option>
          ))}
        </select>
      </div>
      <PagedList
        query={query}
        rows={3}
        empty={
          <Empty title="No deliveries">
            <p>{outcome === undefined ? "No event has arrived in the last 30 days." : "None has this outcome."}</p>
          </Empty>
        }
      >
        {({ deliveries }) =>
          deliveries.map((delivery) => (
            <DeliveryRow key={delivery.delivery_id} delivery={delivery} onInspect={() => setInspected(delivery)} />
          ))
        }
      </PagedList>
      {inspected !== undefined && (
        <DeliveryDialog trigger={trigger} delivery={inspected} onClose={() => setInspected(undefined)} />
      )}
    </section>
  );
}

const eventOf = ({ event_type, action }: TriggerDelivery): string =>
  revealHidden(action === undefined ? event_type : `${event_type}.${action}`);

function OutcomeBadge({ outcome, will_retry }: TriggerDelivery) {
  if (outcome === undefined) {
    return <span className="badge tone-waiting">{will_retry === true ? "Tried again later" : "Being decided"}</span>;
  }
  return <span className={`badge tone-${OUTCOMES[outcome].tone}`}>{OUTCOMES[outcome].label}</span>;
}

function DeliveryRow({ delivery, onInspect }: { readonly delivery: TriggerDelivery; readonly onInspect: () => void }) {
  const why = describeReason(delivery);
  return (
    <li className="item">
      <div className="item-main">
        <button type="button" className="item-title" onClick={onInspect}>
          {eventOf(delivery)}
        </button>
        <p className="item-facts">
          <Time at={delivery.received_at} />
          {why !== undefined && <span>{revealHidden(why)}</span>}
          {delivery.run_id !== undefined && (
            <Link to="/runs/$runId" params={{ runId: delivery.run_id }}>
              Open the run
            </Link>
          )}
        </p>
      </div>
      <OutcomeBadge {...delivery} />
    </li>
  );
}

interface DeliveryDialogProps {
  readonly trigger: TriggerItem;
  readonly delivery: TriggerDelivery;
  readonly onClose: () => void;
}

/** What an event contained, what was decided about it, and a button to deliver it again. */
function DeliveryDialog({ trigger, delivery, onClose }: DeliveryDialogProps) {
  const { delivery_id: id, missing_values: missing = [] } = delivery;
  const query = useQuery(deliveryQuery(trigger.uid, id));
  const redeliver = useMutation({
    mutationFn: () => client.triggers.redeliver(trigger.uid, id),
    onSuccess: () => refreshQueries({ queryKey: triggerQuery(trigger.uid).queryKey }),
  });
  const why = describeReason(delivery);
  return (
    <Dialog open onClose={onClose} title={eventOf(delivery)} wide>
      <p className="item-facts">
        <OutcomeBadge {...delivery} />
        {why !== undefined && <span>{revealHidden(why)}</span>}
        {delivery.run_id !== undefined && (
          <Link to="/runs/$runId" params={{ runId: delivery.run_id }}>
            Open the run
          </Link>
        )}
      </p>
      <p className="faint">
        Delivery <code>{revealHidden(delivery.external_id ?? id)}</code>, received <Time at={delivery.received_at} />
      </p>
      {missing.length > 0 && <p>The event has no {revealHidden(missing.join(", "))}.</p>}
      <Loaded query={query} rows={3}>
        {({ payload }) =>
          payload === undefined ? (
            <p className="faint">Its payload is no longer kept.</p>
          ) : (
            <Code text={revealHidden(JSON.stringify(payload, undefined, 2).slice(0, 200_000))} language="json" />
          )
        }
      </Loaded>
      <InlineError error={redeliver.error} />
      {redeliver.isSuccess && <p role="status">The event is delivered again.</p>}
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
        <Button look="primary" busy={redeliver.isPending} onClick={() => redeliver.mutate()}>
          Deliver again
        </Button>
      </div>
    </Dialog>
  );
}
