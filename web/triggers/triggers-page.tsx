import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus, Radio } from "lucide-react";
import { useState } from "react";
import type { TriggerItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { refreshQueries } from "../api/query-client.ts";
import { RowHealth } from "../health/run-health.tsx";
import { Button } from "../ui/button.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Page } from "../ui/page.tsx";
import { PauseIcon } from "../ui/pause-button.tsx";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { TriggerEditor } from "./trigger-editor.tsx";
import { triggersQuery } from "./trigger-queries.ts";
import { OUTCOMES, SYSTEMS, systemOf } from "./trigger-texts.ts";

export function TriggersPage() {
  const query = useQuery(triggersQuery);
  const [isOpen, setOpen] = useState(false);
  const create = (
    <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => setOpen(true)}>
      New trigger
    </Button>
  );
  return (
    <Page title="Triggers" lead="Events of other systems that start and continue runs." actions={create}>
      <section className="card" aria-label="List of triggers">
        <Loaded query={query}>
          {(triggers) =>
            triggers.length === 0 ? (
              <Empty icon={<Radio size={32} aria-hidden />} title="No triggers yet">
                <p>A trigger starts a run for a mention, a failed build, an alert or any other event.</p>
                {create}
              </Empty>
            ) : (
              <ul className="item-list">
                {triggers.map((trigger) => (
                  <TriggerRow key={trigger.uid} trigger={trigger} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      {isOpen && <TriggerEditor onClose={() => setOpen(false)} />}
    </Page>
  );
}

function TriggerRow({ trigger }: { readonly trigger: TriggerItem }) {
  const { uid, name, enabled, last_delivery: last, failing_since, pause_reason } = trigger;
  const toggle = useMutation({
    mutationFn: () => (enabled ? client.triggers.pause(uid) : client.triggers.resume(uid)),
    onSuccess: () => refreshQueries({ queryKey: triggersQuery.queryKey }),
  });
  return (
    <li className="item">
      <div className="item-main">
        <Link to="/triggers/$triggerUid" params={{ triggerUid: uid }} className="item-title">
          {revealHidden(name)}
        </Link>
        <p className="item-facts">
          <span>{SYSTEMS[systemOf(trigger)]}</span>
          {trigger.events !== undefined && <span className="faint">{trigger.events.join(", ")}</span>}
        </p>
        {pause_reason !== undefined && <p className="field-error">{revealHidden(pause_reason)}</p>}
        {failing_since !== undefined && (
          <p className="field-error">
            Its runs have failed since <Time at={failing_since} />
          </p>
        )}
        <RowHealth kind="trigger" id={uid} hasOwnTimes />
        <InlineError error={toggle.error} />
      </div>
      <div className="item-side">
        {!enabled && <span className="badge">Paused</span>}
        {last?.outcome !== undefined && (
          <span className={`badge tone-${OUTCOMES[last.outcome].tone}`}>{OUTCOMES[last.outcome].label}</span>
        )}
        <span className="faint">
          {last === undefined ? (
            "No event yet"
          ) : (
            <>
              Last event <Time at={last.at} />
            </>
          )}
        </span>
      </div>
      <div className="item-actions">
        <PauseIcon name={name} enabled={enabled} onClick={() => toggle.mutate()} />
      </div>
    </li>
  );
}
