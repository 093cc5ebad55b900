import { memo, useContext, useMemo, useState } from "react";
import { CopyButton } from "../button.tsx";
import { formatBytes, plural } from "../format.ts";
import { revealHidden } from "../hidden-characters.ts";
import { SearchText } from "../search-text.ts";
import { flattenTerminal, type Span, stripColors } from "./ansi.ts";
import { findAddresses, findLines, type Line, toLines } from "./terminal-lines.ts";

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
  const search = useContext(SearchText);
  const found = useMemo(() => (isOpen ? [] : findLines(revealHidden(flat), search)), [flat, search, isOpen]);
  const visible = isOpen ? flat.slice(0, shown) : folded.text;
  const skipped = isLive ? folded.hidden : 0;
  const lines = useMemo(() => toLines(revealHidden(visible), skipped + 1), [visible, skipped]);
  const rest = flat.length - shown;
  if (flat.trim() === "") return <p className="terminal-empty">No output</p>;
  return (
    <div className="terminal">
      <div className="terminal-copy">
        <CopyButton text={() => stripColors(text)} label={`Copy ${label}`} />
      </div>
      <pre className={isOpen ? "terminal-text open" : "terminal-text"} tabIndex={isOpen ? 0 : undefined} dir="ltr">
        {skipped > 0 && found.length === 0 && (
          <span className="terminal-cut">
            … {plural(skipped, "earlier line")}
            {"\n"}
          </span>
        )}
        {(found.length > 0 ? found : lines).map((line) => (
          <TerminalLine key={line.number} line={line} />
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

/** A line with its number, which is not selected with the text. */
const TerminalLine = memo(({ line: { number, spans } }: { readonly line: Line }) => (
  <span className="terminal-line" data-line={number}>
    {spans.map((span, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity and no state.
      <StyledText key={index} span={span} />
    ))}
    {"\n"}
  </span>
));

const StyledText = ({ span }: { readonly span: Span }) => (
  <span
    className={span.style === "" ? undefined : span.style}
    style={span.color === undefined ? undefined : { color: `rgb(${span.color})` }}
  >
    {findAddresses(span.text).map(({ text, href }, index) =>
      href === undefined ? (
        text
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity and no state.
        <a key={index} href={href} target="_blank" rel="noopener noreferrer nofollow">
          {text}
        </a>
      ),
    )}
  </span>
);

/** The first lines, or the last ones of live output. A single long line counts as several. */
function fold(text: string, isLive: boolean): { text: string; hidden: number } {
  const lines = text.split("\n", 200_000);
  const visibleLines = isLive ? lines.slice(-FOLDED_LINES) : lines.slice(0, FOLDED_LINES);
  const joined = visibleLines.join("\n");
  if (lines.length <= FOLDED_LINES && joined.length <= FOLDED_CHARACTERS) return { text: joined, hidden: 0 };
  const cut = isLive ? joined.slice(-FOLDED_CHARACTERS) : joined.slice(0, FOLDED_CHARACTERS);
  return { text: cut, hidden: Math.max(1, lines.length - FOLDED_LINES) };
}
