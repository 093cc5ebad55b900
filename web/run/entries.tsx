import {
  Bot,
  CircleAlert,
  CircleCheck,
  CircleX,
  Cog,
  Link2,
  MessageSquare,
  RefreshCw,
  TriangleAlert,
  User,
} from "lucide-react";
import { memo, type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy-text.ts";
import { formatClock, formatDuration, toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Spinner } from "../ui/icons.tsx";
import { Markdown } from "../ui/markdown/markdown.tsx";
import { showExact, useNow } from "../ui/time.tsx";
import { ActionBody } from "./action-body.tsx";
import { actionTitle } from "./action-text.ts";
import type { ActionEntry, Entry, MarkEntry, TextEntry } from "./feed.ts";
import { readNumber, readText } from "./members.ts";

/** One entry of the conversation, with an address of its own. */
export const EntryView = memo(({ entry, isTarget }: { readonly entry: Entry; readonly isTarget: boolean }) => {
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isTarget && isFocusFree()) article.current?.focus({ preventScroll: true });
  }, [isTarget]);
  return (
    <article
      ref={article}
      id={entry.key}
      className={`entry entry-${entry.kind}`}
      tabIndex={isTarget ? -1 : undefined}
      data-target={isTarget || undefined}
      data-role={entry.kind === "text" ? entry.role : undefined}
    >
      {entry.kind === "text" && <TextView entry={entry} />}
      {entry.kind === "action" && <ActionView entry={entry} />}
      {entry.kind === "mark" && <MarkView entry={entry} />}
    </article>
  );
});

/** Whether the focus may go to a step: it is nowhere, or at a step. A field or the button for the next error keeps it. */
function isFocusFree(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement.matches("body, #main, .entry, .entry *");
}

interface HeadProps {
  readonly icon: ReactNode;
  readonly title: ReactNode;
  readonly entry: Entry;
  readonly children?: ReactNode;
}

function Head({ icon, title, entry, children }: HeadProps) {
  const copyLink = () => {
    const url = new URL(location.href);
    url.hash = entry.key;
    history.replaceState(history.state, "", url);
    void copyText(url.href);
  };
  return (
    <header className="entry-head">
      <span className="entry-icon">{icon}</span>
      <h3 className="entry-title">{title}</h3>
      <span className="entry-facts">
        {children}
        <time dateTime={entry.at} onPointerEnter={showExact}>
          {formatClock(entry.at)}
        </time>
        <IconButton label="Copy a link to this step" className="entry-link" onClick={copyLink}>
          <Link2 size={14} aria-hidden />
        </IconButton>
      </span>
    </header>
  );
}

const SPEAKERS: Readonly<Record<string, readonly [string, ReactNode]>> = {
  user: ["User", <User key="user" size={15} aria-hidden />],
  assistant: ["Agent", <Bot key="agent" size={15} aria-hidden />],
  system: ["System", <Cog key="system" size={15} aria-hidden />],
};

function TextView({ entry }: { readonly entry: TextEntry }) {
  const [name, icon] = SPEAKERS[entry.role] ?? [
    toWords(entry.role),
    <MessageSquare key="other" size={15} aria-hidden />,
  ];
  return (
    <>
      <Head icon={icon} title={name} entry={entry} />
      <div className="entry-body">
        <Markdown text={entry.text} />
      </div>
    </>
  );
}

function ActionView({ entry }: { readonly entry: ActionEntry }) {
  return (
    <>
      <Head icon={<ActionIcon state={entry.state} />} title={<ActionTitle entry={entry} />} entry={entry}>
        <ActionOutcome entry={entry} />
      </Head>
      <div className="entry-body">
        <ActionBody entry={entry} />
      </div>
    </>
  );
}

function ActionTitle({ entry }: { readonly entry: ActionEntry }) {
  const { text, isCode } = actionTitle(entry);
  return isCode ? <code className="command">{revealHidden(text)}</code> : revealHidden(text);
}

function ActionIcon({ state }: { readonly state: string }) {
  if (state === "running") {
    return (
      <span className="tone-active state-icon">
        <Spinner label="Running" />
      </span>
    );
  }
  const isGood = state === "completed";
  return (
    <span className={`state-icon ${isGood ? "tone-good" : state === "lost" ? "tone-off" : "tone-bad"}`}>
      {isGood ? <CircleCheck size={15} aria-label="Completed" /> : <CircleX size={15} aria-label={toWords(state)} />}
    </span>
  );
}

function ActionOutcome({ entry }: { readonly entry: ActionEntry }) {
  const code = readNumber(entry.output, "exit_code");
  const took = readNumber(entry.output, "duration_ms") ?? between(entry.at, entry.endedAt);
  return (
    <>
      {entry.state === "lost" && <span className="faint">no result</span>}
      {entry.state === "denied" && <span className="faint">denied</span>}
      {code !== undefined && code !== 0 && <span className="exit-code">exit {code}</span>}
      {entry.state === "running" ? (
        <Elapsed since={entry.at} />
      ) : (
        took !== undefined && <span className="number">{formatDuration(took)}</span>
      )}
    </>
  );
}

function Elapsed({ since }: { readonly since: string }) {
  const now = useNow();
  return <span className="number">{formatDuration(Math.max(0, now - Date.parse(since)))}</span>;
}

function between(start: string, end: string | undefined): number | undefined {
  if (end === undefined) return undefined;
  const difference = Date.parse(end) - Date.parse(start);
  return difference >= 0 ? difference : undefined;
}

/** The first line of a text without the marks of Markdown. */
const firstLine = (text: string): string =>
  revealHidden(
    (text.trimStart().split("\n")[0] ?? "")
      .replaceAll(/[*_`#]/g, "")
      .trim()
      .slice(0, 120),
  ) || "Thought";

function MarkView({ entry }: { readonly entry: MarkEntry }) {
  const text = [entry.data["message"], entry.data["reason"], entry.data["detail"], entry.data["data"]].find(
    (one) => typeof one === "string",
  );
  // Of a conversation that was compacted: what the model got instead of earlier steps.
  const summary = readText(entry.data["data"], "summary");
  const thought = entry.type === "agent_thought" ? readText(entry.data["data"], "text") : undefined;
  const folded = summary ?? thought;
  const icon =
    entry.type === "model_retry" || entry.type === "execution_lost" ? (
      <RefreshCw size={15} aria-hidden />
    ) : entry.type.startsWith("run_") ? (
      <TriangleAlert size={15} aria-hidden />
    ) : (
      <CircleAlert size={15} aria-hidden />
    );
  return (
    <>
      <Head icon={icon} title={toWords(entry.type)} entry={entry} />
      {folded !== undefined && (
        <details className="entry-body">
          <summary>{summary === undefined ? firstLine(folded) : "Summary"}</summary>
          <Markdown text={folded} />
        </details>
      )}
      {typeof text === "string" && text !== "" && (
        <p className="entry-body plain-text muted">{revealHidden(text.slice(0, 4000))}</p>
      )}
    </>
  );
}
