import "../styles/runs.css";
import { Bell, BellOff, Check, CheckCheck, Inbox as InboxIcon } from "lucide-react";
import { useState } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { useMe } from "../api/session.ts";
import { RunRow } from "../runs/run-row.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { plural } from "../ui/format.ts";
import { Page } from "../ui/page.tsx";
import { Empty, ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { countInbox, eventTime, type Inbox } from "./inbox.ts";
import { changeInboxState, type InboxState, markRead } from "./inbox-state.ts";
import { useInbox } from "./use-inbox.ts";

/** What waits for the person: questions, failures and results that they have not seen. */
export function InboxPage() {
  const { inbox, state, query } = useInbox();
  return (
    <Page
      title="Inbox"
      lead="Runs that need an answer, and those that ended since you looked."
      actions={<InboxActions inbox={inbox} state={state} />}
    >
      {inbox === undefined && query.error !== null ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : inbox === undefined ? (
        <LoadingRows rows={4} height={62} />
      ) : countInbox(inbox) === 0 ? (
        <section className="card">
          <Empty icon={<InboxIcon size={32} aria-hidden />} title="Nothing waits for you">
            <p>Questions of agents, failures and results appear here, until you open the run.</p>
          </Empty>
        </section>
      ) : (
        <div className="stack">
          <Part title="Needs an answer" runs={inbox.asking} />
          <Part title="Failed since you looked" runs={inbox.failed} isReadable />
          <Part title="Finished and unread" runs={inbox.finished} isReadable />
        </div>
      )}
    </Page>
  );
}

const SCOPES = [
  ["mine", "Mine"],
  ["all", "All"],
] as const;

function InboxActions({ inbox, state }: { readonly inbox: Inbox | undefined; readonly state: InboxState }) {
  const { uid } = useMe();
  const unread = [...(inbox?.failed ?? []), ...(inbox?.finished ?? [])];
  return (
    <>
      <fieldset className="views">
        <legend className="visually-hidden">Whose runs</legend>
        {SCOPES.map(([scope, label]) => (
          <button
            key={scope}
            type="button"
            className="view"
            aria-pressed={scope === state.scope}
            onClick={() => changeInboxState(uid, { scope })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <NotifyButton isOn={state.notify} onChange={(notify) => changeInboxState(uid, { notify })} />
      {unread.length > 0 && (
        <Button
          icon={<CheckCheck size={15} aria-hidden />}
          onClick={() =>
            markRead(
              uid,
              unread.map((run) => ({ run_id: run.run_id, at: eventTime(run) })),
            )
          }
        >
          Mark all as read
        </Button>
      )}
    </>
  );
}

interface NotifyButtonProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** Asks the browser for notifications, or stops them. */
function NotifyButton({ isOn, onChange }: NotifyButtonProps) {
  const [isRefused, setRefused] = useState(false);
  if (!("Notification" in globalThis)) return null;
  const isActive = isOn && Notification.permission === "granted";
  const change = async () => {
    if (isActive) return onChange(false);
    const isGranted = (await Notification.requestPermission()) === "granted";
    setRefused(!isGranted);
    onChange(isGranted);
  };
  return (
    <>
      <Button
        aria-pressed={isActive}
        icon={isActive ? <BellOff size={15} aria-hidden /> : <Bell size={15} aria-hidden />}
        onClick={() => void change()}
      >
        {isActive ? "Stop notifications" : "Notify me"}
      </Button>
      {isRefused && (
        <p className="form-error" role="alert">
          The browser refuses notifications of this site. Allow them in its settings.
        </p>
      )}
    </>
  );
}

interface PartProps {
  readonly title: string;
  readonly runs: readonly RunItem[];
  readonly isReadable?: boolean;
}

function Part({ title, runs, isReadable = false }: PartProps) {
  const { uid } = useMe();
  if (runs.length === 0) return null;
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <span className="faint number">{plural(runs.length, "run")}</span>
      </div>
      <ul className="item-list">
        {runs.map((run) => (
          <li key={run.run_id} className="inbox-item">
            <RunRow run={run} isSelected={false} />
            {isReadable && (
              <IconButton
                label={`Mark ${run.title.trim() || "the run"} as read`}
                onClick={() => markRead(uid, [{ run_id: run.run_id, at: eventTime(run) }])}
              >
                <Check size={16} aria-hidden />
              </IconButton>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
