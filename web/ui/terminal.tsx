import { useMemo, useState } from "react";
import { flattenTerminal, stripColors, toSpans } from "./ansi.ts";
import { CopyButton } from "./button.tsx";
import { formatBytes, plural } from "./format.ts";
import { revealHidden } from "./hidden-characters.ts";

interface TerminalProps {
  readonly text: string;
  /** Output that still grows is shown by its end. */
  readonly isLive?: boolean;
  readonly label: string;
}

const FOLDED_LINES = 14;
const FOLDED_CHARACTERS = 4000;
/** The most that is put into the page at once. */
const STEP_CHARACTERS = 120_000;

/** The output of a command: colors are shown, long output is folded. */
export function Terminal({ text, isLive = false, label }: TerminalProps) {
  const [shown, setShown] = useState(0);
  const flat = useMemo(() => flattenTerminal(text).trimEnd(), [text]);
  const folded = useMemo(() => fold(flat, isLive), [flat, isLive]);
  const isOpen = shown > 0;
  const visible = isOpen ? flat.slice(0, shown) : folded.text;
  const spans = useMemo(() => toSpans(revealHidden(visible)), [visible]);
  const rest = flat.length - shown;
  if (flat.trim() === "") return <p className="terminal-empty">No output</p>;
  return (
    <div className="terminal">
      <div className="terminal-copy">
        <CopyButton text={() => stripColors(text)} label={`Copy ${label}`} />
      </div>
      <pre className={isOpen ? "terminal-text open" : "terminal-text"} tabIndex={isOpen ? 0 : undefined} dir="ltr">
        {isLive && folded.hidden > 0 && (
          <span className="terminal-cut">
            … {plural(folded.hidden, "earlier line")}
            {"\n"}
          </span>
        )}
        {spans.map((span, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity and no state.
            key={index}
            className={span.style === "" ? undefined : span.style}
            style={span.color === undefined ? undefined : { color: `rgb(${span.color})` }}
          >
            {span.text}
          </span>
        ))}
      </pre>
      {!isLive && (folded.hidden > 0 || isOpen) && (
        <div className="terminal-more">
          {isOpen && rest > 0 && (
            <button type="button" className="link-button" onClick={() => setShown(shown + STEP_CHARACTERS)}>
              Show {formatBytes(Math.min(rest, STEP_CHARACTERS))} more of {formatBytes(rest)}
            </button>
          )}
          <button type="button" className="link-button" onClick={() => setShown(isOpen ? 0 : STEP_CHARACTERS)}>
            {isOpen ? "Fold" : `Show all ${plural(folded.hidden + FOLDED_LINES, "line")}`}
          </button>
        </div>
      )}
    </div>
  );
}

/** The first lines, or the last ones of live output. A single long line counts as several. */
function fold(text: string, isLive: boolean): { text: string; hidden: number } {
  const lines = text.split("\n", 200_000);
  const kept = isLive ? lines.slice(-FOLDED_LINES) : lines.slice(0, FOLDED_LINES);
  const joined = kept.join("\n");
  if (lines.length <= FOLDED_LINES && joined.length <= FOLDED_CHARACTERS) return { text: joined, hidden: 0 };
  const cut = isLive ? joined.slice(-FOLDED_CHARACTERS) : joined.slice(0, FOLDED_CHARACTERS);
  return { text: cut, hidden: Math.max(1, lines.length - FOLDED_LINES) };
}
