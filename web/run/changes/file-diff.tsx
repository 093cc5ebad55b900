import { useEffect, useMemo, useState } from "react";
import { CopyButton } from "../../ui/button.tsx";
import { Tokens } from "../../ui/code.tsx";
import { plural } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import type { Token } from "../../ui/highlight.ts";
import { type DiffLine, type FileDiff, parseDiff } from "./diff.ts";

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

/** The change of one file. */
function FileDiffView({ diff }: { readonly diff: FileDiff }) {
  const [isOpen, setOpen] = useState(false);
  const lines = diff.lines.slice(0, isOpen ? MAX_LINES : FOLDED_LINES);
  const colors = useLineTokens(lines, diff.path);
  const hidden = diff.lines.length - lines.length;
  return (
    <figure className="diff">
      <figcaption className="diff-head">
        <code className="truncate">{revealHidden(diff.path)}</code>
        <span className="diff-count">
          {diff.change !== "changed" && <span className="chip">{diff.change}</span>}
          {diff.added > 0 && <span className="diff-added">+{diff.added}</span>}
          {diff.removed > 0 && <span className="diff-removed">−{diff.removed}</span>}
          <CopyButton text={() => toPatch(diff)} label="Copy the change" />
        </span>
      </figcaption>
      {lines.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        <pre className="diff-lines" tabIndex={0} dir="ltr">
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity and no state.
            <span key={index} className={`diff-line diff-${line.kind}`}>
              <span className="diff-sign">{SIGNS[line.kind]}</span>
              <LineText text={line.text} tokens={colors?.[index]} />
              {"\n"}
            </span>
          ))}
        </pre>
      )}
      {hidden > 0 && (
        <button type="button" className="link-button diff-more" onClick={() => setOpen(true)}>
          Show {plural(Math.min(hidden, MAX_LINES), "more line")}
        </button>
      )}
    </figure>
  );
}

const LineText = ({ text, tokens }: { readonly text: string; readonly tokens: readonly Token[] | undefined }) =>
  tokens === undefined ? <span>{revealHidden(text.slice(0, MAX_LINE))}</span> : <Tokens tokens={tokens} />;

const toPatch = ({ path, lines }: FileDiff): string =>
  [
    `--- a/${path}`,
    `+++ b/${path}`,
    ...lines.map(({ kind, text }) => `${kind === "remove" ? "-" : SIGNS[kind]}${text}`),
  ].join("\n");

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
