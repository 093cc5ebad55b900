import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, Pause, Pencil, Play, Plus, Trash2, Webhook } from "lucide-react";
import { useState } from "react";
import { WEBHOOK_EVENT_TYPES, type WebhookItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { webhooksQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Empty, InlineError, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { WebhookDeliveries } from "./webhook-deliveries.tsx";
import { WebhookEditor } from "./webhook-editor.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";
import { useWebhookState, WebhookState } from "./webhook-state.tsx";

/** The URLs that receive events of a team's runs. */
export function Webhooks({ teamUid, teamName }: { readonly teamUid: string; readonly teamName: string }) {
  const webhooks = webhooksQuery(teamUid);
  const query = useQuery(webhooks);
  const [editing, setEditing] = useState<WebhookItem | "new">();
  const [inspected, setInspected] = useState<WebhookItem>();
  const [rotated, setRotated] = useState<WebhookItem>();
  const [deleting, setDeleting] = useState<WebhookItem>();
  const remove = useMutation({
    mutationFn: (uid: string) => client.webhooks.delete(uid, { team: teamUid }),
    onSuccess: async () => {
      setDeleting(undefined);
      await refreshQueries({ queryKey: webhooks.queryKey });
    },
  });
  const close = () => {
    setDeleting(undefined);
    remove.reset();
  };
  return (
    <section className="card" aria-label="Webhooks">
      <div className="card-head">
        <h2>{revealHidden(teamName)}</h2>
        <Button small icon={<Plus size={14} aria-hidden />} onClick={() => setEditing("new")}>
          New webhook
        </Button>
      </div>
      <Loaded query={query} rows={1}>
        {(items) =>
          items.length === 0 ? (
            <Empty icon={<Webhook size={26} aria-hidden />} title="No webhooks">
              <p>A webhook is a URL that receives events of the team's runs.</p>
            </Empty>
          ) : (
            <ul className="item-list">
              {items.map((webhook) => (
                <WebhookRow
                  key={webhook.uid}
                  webhook={webhook}
                  onInspect={() => setInspected(webhook)}
                  onEdit={() => setEditing(webhook)}
                  onRotate={() => setRotated(webhook)}
                  onDelete={() => setDeleting(webhook)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {editing !== undefined && (
        <WebhookEditor
          teamUid={teamUid}
          {...(editing === "new" ? {} : { webhook: editing })}
          onClose={() => setEditing(undefined)}
        />
      )}
      {inspected !== undefined && <WebhookDeliveries webhook={inspected} onClose={() => setInspected(undefined)} />}
      {rotated !== undefined && <WebhookSecret webhook={rotated} onClose={() => setRotated(undefined)} />}
      <Confirm
        open={deleting !== undefined}
        onClose={close}
        title={`Delete ${deleting === undefined ? "" : nameOf(deleting)}?`}
        text="Its signing secret is deleted too, and pending deliveries are not attempted again."
        action="Delete the webhook"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => deleting !== undefined && remove.mutate(deleting.uid)}
      />
    </section>
  );
}

const nameOf = ({ name, url }: WebhookItem): string => revealHidden(name ?? url);

interface WebhookRowProps {
  readonly webhook: WebhookItem;
  readonly onInspect: () => void;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
  readonly onDelete: () => void;
}

function WebhookRow({ webhook, onInspect, onEdit, onRotate, onDelete }: WebhookRowProps) {
  const { uid, url, event_types: types, filter, enabled, scope, previous_secret_expires_at: expiry } = webhook;
  const name = nameOf(webhook);
  const state = useWebhookState(webhook);
  const toggle = useMutation({
    mutationFn: () => client.webhooks.update(uid, { enabled: !enabled }, { team: scope.uid }),
    onSuccess: () => refreshQueries({ queryKey: webhooksQuery(scope.uid).queryKey }),
  });
  return (
    <li className="item">
      <div className="item-main">
        <span className="item-title">{name}</span>
        {webhook.name !== undefined && <p className="item-facts">{revealHidden(url)}</p>}
        <p className="item-facts">
          {types.length === WEBHOOK_EVENT_TYPES.length ? "All events" : types.map(toWords).join(", ")}
        </p>
        {filter !== undefined && (
          <p className="item-facts">
            <span>
              Only runs with <code>{revealHidden(describeFilter(filter))}</code>
            </span>
          </p>
        )}
        {expiry !== undefined && (
          <p className="item-facts">
            <span>
              The previous secret signs as well until <Time at={expiry} />
            </span>
          </p>
        )}
        <WebhookState {...state} />
        <InlineError error={toggle.error} />
      </div>
      {enabled ? (
        <span className={state.isFailing ? "badge tone-bad" : "badge tone-good"}>
          {state.isFailing ? "Failing" : "Enabled"}
        </span>
      ) : (
        <span className="badge">Paused</span>
      )}
      <Button small aria-label={`Deliveries of ${name}`} onClick={onInspect}>
        Deliveries
      </Button>
      <div className="item-actions">
        <IconButton label={enabled ? `Pause ${name}` : `Resume ${name}`} onClick={() => toggle.mutate()}>
          {enabled ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
        </IconButton>
        <IconButton label={`Edit ${name}`} onClick={onEdit}>
          <Pencil size={15} aria-hidden />
        </IconButton>
        <IconButton label={`Replace the secret of ${name}`} onClick={onRotate}>
          <KeyRound size={15} aria-hidden />
        </IconButton>
        <IconButton label={`Delete ${name}`} onClick={onDelete}>
          <Trash2 size={15} aria-hidden />
        </IconButton>
      </div>
    </li>
  );
}

/** A filter as `state=FAILED or ERROR, deploy=yes`. */
const describeFilter = ({ metadata = {}, ...members }: NonNullable<WebhookItem["filter"]>): string =>
  [...Object.entries(members), ...Object.entries(metadata)]
    .map(([name, value]) => `${name}=${[value].flat().join(" or ")}`)
    .join(", ");
