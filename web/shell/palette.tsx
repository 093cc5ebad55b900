import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { client } from "../api/client.ts";
import { useMe } from "../api/session.ts";
import { changeInboxState } from "../inbox/inbox-state.ts";
import { titleOf } from "../runs/title-of.ts";
import { copyText } from "../ui/copy-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { stateLabel } from "../ui/run-state.tsx";
import { findItems, type PaletteItem } from "./palette-items.ts";
import { PLACES } from "./places.ts";
import { setTheme } from "./theme.ts";

const TYPING_MS = 200;
const MAX_RUNS = 8;

interface PaletteProps {
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** Opens pages and runs, and performs actions, by typing a part of their names. */
export function Palette({ onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const list = useId();
  const runs = useRunItems(text);
  const items = [...findItems(usePageItems(onHelp), text), ...runs].slice(0, text.trim() === "" ? 30 : 14);
  const current = Math.min(active, items.length - 1);
  const perform = (item: PaletteItem | undefined) => {
    if (item === undefined) return;
    onClose();
    item.perform();
  };
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) setActive((current + by + items.length) % Math.max(1, items.length));
    else if (event.key === "Enter") perform(items[current]);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    document.getElementById(`${list}-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [list, current]);
  return (
    <Dialog open onClose={onClose} title="Go to or do">
      <input
        autoFocus
        className="input"
        role="combobox"
        aria-label="Page, run or action"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={items.length === 0 ? undefined : `${list}-${current}`}
        placeholder="Page, run or action"
        maxLength={256}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id={list} aria-label="Results" className="palette-list">
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above.
          <div
            key={item.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === current}
            className="menu-item"
            data-highlighted={index === current || undefined}
            onPointerMove={() => setActive(index)}
            onClick={() => perform(item)}
          >
            <span className="truncate">{item.label}</span>
            <span className="palette-note">{item.note}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p className="faint">Nothing has this name.</p>}
    </Dialog>
  );
}

/** Pages and actions, and those of the run whose page is open. */
function usePageItems(onHelp: () => void): PaletteItem[] {
  const navigate = useNavigate();
  const { uid } = useMe();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const runId = /^\/runs\/(?!new$)([^/]+)$/.exec(path)?.[1];
  const action = (label: string, perform: () => void, words = ""): PaletteItem => ({
    ...{ id: label, label, note: "Action", words, perform },
  });
  const ofRun =
    runId === undefined
      ? []
      : [
          action("Run again", () => void navigate({ to: "/runs/new", search: { from: runId } }), "repeat copy"),
          action("Copy the id of this run", () => void copyText(runId)),
          action("Copy the link to this run", () => void copyText(location.href)),
        ];
  return [
    ...ofRun,
    ...PLACES.map(({ to, label, key }) => ({
      ...{ id: to, label, note: `g ${key}`, words: "page go", perform: () => void navigate({ to, search: {} }) },
    })),
    action("New run", () => void navigate({ to: "/runs/new", search: {} }), "start create"),
    action("New schedule", () => void navigate({ to: "/runs/new", search: { schedule: "yes" } }), "create cron"),
    action("Runs that need you", () => void navigate({ to: "/runs", search: { view: "needs-you" } }), "blocked"),
    action("Failed runs", () => void navigate({ to: "/runs", search: { view: "failed" } }), "error"),
    action("Mark the inbox as read", () => changeInboxState(uid, { since: new Date().toISOString(), read: {} })),
    action("Light theme", () => setTheme("light"), "appearance"),
    action("Dark theme", () => setTheme("dark"), "appearance"),
    action("System theme", () => setTheme("system"), "appearance"),
    action("Keyboard shortcuts", onHelp, "help keys"),
  ];
}

/** The runs that a text finds, or the latest ones. */
function useRunItems(text: string): PaletteItem[] {
  const navigate = useNavigate();
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = useQuery({
    queryKey: ["palette", wanted],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const q = wanted === "" ? {} : { q: wanted };
      return (await client.runs.list({ sort_by: "created_at", limit: MAX_RUNS, ...q }, { signal })).body.runs;
    },
  });
  const found = (query.data ?? []).map((run) => ({
    id: run.run_id,
    label: titleOf(run),
    note: stateLabel(run.state),
    perform: () => void navigate({ to: "/runs/$runId", params: { runId: run.run_id } }),
  }));
  const q = text.trim();
  if (q === "") return found;
  const perform = () => void navigate({ to: "/runs", search: { q } });
  return [...found, { id: "search", label: `Search runs for “${q}”`, note: "Search", perform }];
}
