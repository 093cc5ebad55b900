import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { useMe } from "../api/session.ts";
import { titleOf } from "../runs/title-of.ts";
import { setTitleCount } from "../ui/page.tsx";
import { stateLabel } from "../ui/run-state.tsx";
import { countInbox, eventTime, type Inbox } from "./inbox.ts";
import { markRead } from "./inbox-state.ts";
import { useInbox } from "./use-inbox.ts";

/**
 * The number of what waits for the person, in the navigation and in the title of the tab. While it is shown, runs that are opened
 * become read, and the browser notifies of what is new if the person has asked for it.
 */
export function InboxCount() {
  const { inbox, state } = useInbox();
  const count = inbox === undefined ? 0 : countInbox(inbox);
  useEffect(() => {
    setTitleCount(count);
    return () => setTitleCount(0);
  }, [count]);
  useReadOpenRun(inbox);
  useNotifications(inbox, state.notify);
  if (count === 0) return null;
  return (
    <span className="place-count number">
      {count > 99 ? "99+" : count}
      <span className="visually-hidden"> new</span>
    </span>
  );
}

/** Marks the run as read whose page is open: when it is opened, when it changes, and when it is left. */
function useReadOpenRun(inbox: Inbox | undefined): void {
  const { uid } = useMe();
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname ?? "" });
  const runId = /^\/runs\/(?!new$)([^/]+)$/.exec(path)?.[1];
  const opened = [...(inbox?.failed ?? []), ...(inbox?.finished ?? [])].find(({ run_id }) => run_id === runId);
  useEffect(() => {
    if (opened !== undefined && document.visibilityState === "visible")
      markRead(uid, [{ run_id: opened.run_id, at: eventTime(opened) }]);
  }, [uid, opened]);
  useEffect(() => {
    if (runId === undefined) return;
    return () => markRead(uid, [{ run_id: runId }]);
  }, [uid, runId]);
}

/** Shows a notification of the browser for each run that enters the inbox, except while its page is open. */
function useNotifications(inbox: Inbox | undefined, isWanted: boolean): void {
  const navigate = useNavigate();
  // Nothing is new to somebody who has just opened the app.
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (inbox === undefined) return;
    const runs = [...inbox.asking, ...inbox.failed, ...inbox.finished];
    const toKey = (run: RunItem) => `${run.run_id} ${run.state} ${eventTime(run)}`;
    const last = known.current;
    known.current = new Set(runs.map(toKey));
    if (last === undefined || !isWanted || !mayNotify()) return;
    for (const run of runs.filter((one) => !last.has(toKey(one)))) {
      // Tabs that notify of the same run replace each other's notification.
      const options = { body: stateLabel(run.state), tag: run.run_id, icon: "/icon.svg" };
      const notification = new Notification(titleOf(run), options);
      notification.onclick = () => {
        focus();
        void navigate({ to: "/runs/$runId", params: { runId: run.run_id } });
        notification.close();
      };
    }
  }, [inbox, isWanted, navigate]);
}

const mayNotify = (): boolean => "Notification" in globalThis && Notification.permission === "granted";
