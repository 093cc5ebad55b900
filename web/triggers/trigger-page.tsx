import "../styles/text.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { KeyRound, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { TriggerItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { HealthCard } from "../health/run-health.tsx";
import { Button, CopyButton } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { formatCount } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Page } from "../ui/page.tsx";
import { PauseButton } from "../ui/pause-button.tsx";
import { InlineError, Loaded } from "../ui/status.tsx";
import { Deliveries } from "./deliveries.tsx";
import { PromptTest } from "./prompt-test.tsx";
import { TriggerEditor } from "./trigger-editor.tsx";
import { triggerQuery, triggersQuery } from "./trigger-queries.ts";
import { TriggerSecret } from "./trigger-secret.tsx";
import { OUTCOME_NAMES, OUTCOMES, SYSTEMS, systemOf } from "./trigger-texts.ts";

const route = getRouteApi("/shell/triggers/$triggerUid");

export function TriggerPage() {
  const { triggerUid } = route.useParams();
  const query = useQuery(triggerQuery(triggerUid));
  return (
    <Loaded query={query} rows={4}>
      {(trigger) => <LoadedTrigger trigger={trigger} />}
    </Loaded>
  );
}

function LoadedTrigger({ trigger }: { readonly trigger: TriggerItem }) {
  const { uid, name, enabled, pause_reason, counts_24h: counts } = trigger;
  return (
    <Page
      title={revealHidden(name)}
      lead={
        <>
          <Link to="/triggers">Triggers</Link> · {SYSTEMS[systemOf(trigger)]} · {enabled ? "Active" : "Paused"}
        </>
      }
      actions={<TriggerActions trigger={trigger} />}
    >
      <div className="stack">
        {pause_reason !== undefined && <p className="form-error">{revealHidden(pause_reason)}</p>}
        <section className="card card-body stack" aria-label="Address">
          <h2>Address of the events</h2>
          <div className="secret">
            <code>{trigger.ingress_url}</code>
            <CopyButton text={trigger.ingress_url} label="Copy the address" />
          </div>
        </section>
        <HealthCard kind="trigger" id={uid}>
          {counts !== undefined && <DayCounts counts={counts} />}
        </HealthCard>
        <Deliveries trigger={trigger} />
        <section className="card card-body stack">
          <h2>Prompt</h2>
          <Code text={trigger.prompt} language="markdown" />
          {trigger.filter !== undefined && (
            <p>
              Only if <code>{revealHidden(trigger.filter)}</code>
            </p>
          )}
          <PromptTest trigger={trigger} />
        </section>
      </div>
    </Page>
  );
}

/** The events of a day by what was decided about them. */
const DayCounts = ({ counts }: { readonly counts: NonNullable<TriggerItem["counts_24h"]> }) => (
  <p className="item-facts">
    {OUTCOME_NAMES.map((outcome) => (
      <span key={outcome}>
        {OUTCOMES[outcome].label} <strong className="number">{formatCount(counts[outcome])}</strong>
      </span>
    ))}
    <span className="faint">in 24 hours</span>
  </p>
);

function TriggerActions({ trigger }: { readonly trigger: TriggerItem }) {
  const { uid, enabled, name } = trigger;
  const navigate = useNavigate();
  const [open, setOpen] = useState<"edit" | "secret" | "delete">();
  const close = () => setOpen(undefined);
  const refresh = () => refreshQueries({ queryKey: triggersQuery.queryKey });
  const toggle = useMutation({
    mutationFn: () => (enabled ? client.triggers.pause(uid) : client.triggers.resume(uid)),
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: () => client.triggers.delete(uid),
    onSuccess: async () => {
      await navigate({ to: "/triggers" });
      await refresh();
    },
  });
  return (
    <>
      <PauseButton enabled={enabled} busy={toggle.isPending} onClick={() => toggle.mutate()} />
      <Button icon={<Pencil size={15} aria-hidden />} onClick={() => setOpen("edit")}>
        Edit
      </Button>
      <Button icon={<KeyRound size={15} aria-hidden />} onClick={() => setOpen("secret")}>
        Replace the secret
      </Button>
      <Button look="danger" icon={<Trash2 size={15} aria-hidden />} onClick={() => setOpen("delete")}>
        Delete
      </Button>
      <InlineError error={toggle.error} />
      {open === "edit" && <TriggerEditor trigger={trigger} onClose={close} />}
      {open === "secret" && <TriggerSecret trigger={trigger} onClose={close} />}
      <Confirm
        open={open === "delete"}
        onClose={close}
        title={`Delete ${name}?`}
        text="Its events are refused from then on. The runs that it started stay."
        action="Delete the trigger"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}
