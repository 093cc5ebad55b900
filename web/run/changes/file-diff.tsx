import { ChevronDown, ChevronRight } from "lucide-react";
import { Fragment, type ReactNode, useEffect, useMemo, useState } from "react";
import { CopyButton, IconButton } from "../../ui/button.tsx";
import { Tokens } from "../../ui/code.tsx";
import { plural } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import type { Token } from "../../ui/highlight.ts";
import { countSkipped, type DiffLine, type FileDiff, foldContext, parseDiff, toPatch } from "./diff.ts";

const FOLDED_LINES = 40;
const MAX_LINES = 4000;
const MAX_LINE = 2000;
const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { add: "+", remove: "−", same: " ", gap: "⋯" };

/** The changes of files, given as a unified diff. */
export function Diffs({ diff }: { readonly diff: string }) {
  const files = useMemo(() => parseDiff(diff), [diff]);
  return files.map((file, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: one file may be changed several times, and the order never changes.
    <FileDiffView key={index} diff={file} />
  ));
}

/** What a review adds to the lines of a change. */
export interface LineNotes {
  readonly onComment: (line: DiffLine) => void;
  /** What is below a line. */
  readonly below: (line: DiffLine) => ReactNode;
}

interface FileDiffProps {
  readonly diff: FileDiff;
  readonly id?: string;
  readonly isCollapsed?: boolean;
  /** Called where the head folds the file. Without it, the file cannot be folded. */
  readonly onCollapse?: (isCollapsed: boolean) => void;
  readonly notes?: LineNotes;
}

/** The change of one file. */
export function FileDiffView({ diff, id, isCollapsed = false, onCollapse, notes }: FileDiffProps) {
  const name = revealHidden(diff.path);
  return (
    <figure className="diff" id={id}>
      <figcaption className="diff-head">
        {onCollapse !== undefined && (
          <IconButton
            label={isCollapsed ? `Show ${name}` : `Hide ${name}`}
            aria-expanded={!isCollapsed}
            onClick={() => onCollapse(!isCollapsed)}
          >
            {isCollapsed ? <ChevronRight size={15} aria-hidden /> : <ChevronDown size={15} aria-hidden />}
          </IconButton>
        )}
        <code className="truncate diff-path">{name}</code>
        <span className="diff-count">
          {diff.change !== "changed" && <span className="chip">{diff.change}</span>}
          {diff.added > 0 && <span className="diff-added">+{diff.added}</span>}
          {diff.removed > 0 && <span className="diff-removed">−{diff.removed}</span>}
          <CopyButton text={() => toPatch(diff)} label="Copy the change" />
        </span>
      </figcaption>
      {!isCollapsed && diff.lines.length > 0 && <Lines diff={diff} notes={notes} />}
    </figure>
  );
}

const NONE: ReadonlySet<number> = new Set();

function Lines({ diff, notes }: { readonly diff: FileDiff; readonly notes: LineNotes | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const [open, setOpen] = useState(NONE);
  const lines = diff.lines.slice(0, isWhole || notes !== undefined ? MAX_LINES : FOLDED_LINES);
  const colors = useLineTokens(lines, diff.path);
  const parts = foldContext(lines, open);
  const hidden = diff.lines.length - lines.length;
  return (
    <>
      <div
        className="diff-lines"
        dir="ltr"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        {parts.map((part) => {
          if (!("line" in part)) {
            return (
              <button
                key={`fold${part.from}`}
                type="button"
                className="link-button diff-fold"
                onClick={() => setOpen(new Set([...open, part.from]))}
              >
                Show {plural(part.to - part.from, "unchanged line")}
              </button>
            );
          }
          const line = diff.lines[part.line];
          return line === undefined ? null : (
            <Fragment key={part.line}>
              {line.kind === "gap" ? (
                <Gap text={line.text} skipped={countSkipped(diff.lines, part.line)} />
              ) : (
                <Line line={line} tokens={colors?.[part.line]} onComment={notes?.onComment} />
              )}
              {notes?.below(line)}
            </Fragment>
          );
        })}
      </div>
      {hidden > 0 && !isWhole && notes === undefined && (
        <button type="button" className="link-button diff-more" onClick={() => setWhole(true)}>
          Show {plural(Math.min(hidden, MAX_LINES), "more line")}
        </button>
      )}
      {hidden > 0 && (isWhole || notes !== undefined) && (
        <p className="faint diff-more">{plural(hidden, "more line")} can be read in the patch.</p>
      )}
    </>
  );
}

/** Where lines are left out: how many, and the function that Git names there. */
function Gap({ text, skipped }: { readonly text: string; readonly skipped: number }) {
  const context = text.replace(/^@@.*?@@ ?/, "");
  if (skipped === 0 && context === "") return null;
  return (
    <span className="diff-line diff-gap">
      <span className="diff-sign">⋯</span>
      {skipped > 0 && `${plural(skipped, "line")} not changed `}
      <span>{revealHidden(context.slice(0, MAX_LINE))}</span>
      {"\n"}
    </span>
  );
}

interface LineProps {
  readonly line: DiffLine;
  readonly tokens: readonly Token[] | undefined;
  readonly onComment: ((line: DiffLine) => void) | undefined;
}

function Line({ line, tokens, onComment }: LineProps) {
  const number = line.after ?? line.before;
  return (
    <span className={`diff-line diff-${line.kind}`}>
      <span className="diff-numbers">
        <span className="diff-number" data-number={line.before} />
        <span className="diff-number" data-number={line.after} />
        {onComment !== undefined && (
          <button
            type="button"
            className="diff-comment-button"
            aria-label={`Comment on line ${number}${line.kind === "remove" ? " before the change" : ""}`}
            onClick={() => onComment(line)}
          >
            +
          </button>
        )}
      </span>
      <span className="diff-sign">{SIGNS[line.kind]}</span>
      {tokens === undefined ? <span>{revealHidden(line.text.slice(0, MAX_LINE))}</span> : <Tokens tokens={tokens} />}
      {"\n"}
    </span>
  );
}

/** Colors each line by itself, by the language of the file's extension. */
function useLineTokens(lines: readonly DiffLine[], path: string): readonly (readonly Token[])[] | undefined {
  const [tokens, setTokens] = useState<readonly (readonly Token[])[]>();
  const language = /\.(\w+)$/.exec(path)?.[1];
  const text = lines.map((line) => line.text).join("\n");
  useEffect(() => {
    setTokens(undefined);
    if (language === undefined || text.length > 60_000) return;
    let isCurrent = true;
    void import("../../ui/highlight.ts").then(({ highlight }) => {
      if (isCurrent)
        setTokens(text.split("\n").map((line) => highlight(revealHidden(line.slice(0, MAX_LINE)), language)));
    });
    return () => {
      isCurrent = false;
    };
  }, [text, language]);
  return tokens;
}
