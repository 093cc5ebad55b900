import { memo, useEffect, useState } from "react";
import type { Token } from "./highlight.ts";

/** Longer texts have no colors. */
const MAX_HIGHLIGHTED = 30_000;

interface CodeProps {
  readonly text: string;
  readonly language: string | undefined;
}

/** A block of code. Its colors are loaded when there is something to color; the text does not move. */
export const Code = memo(({ text, language }: CodeProps) => {
  const tokens = useTokens(text, language);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <pre className="code" dir="ltr" tabIndex={0}>
      <code>{tokens === undefined ? text : <Tokens tokens={tokens} />}</code>
    </pre>
  );
});

export const Tokens = ({ tokens }: { readonly tokens: readonly Token[] }) =>
  tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity and no state.
    <span key={index} className={token.style === "" ? undefined : token.style}>
      {token.text}
    </span>
  ));

function useTokens(text: string, language: string | undefined): readonly Token[] | undefined {
  const [tokens, setTokens] = useState<readonly Token[]>();
  useEffect(() => {
    setTokens(undefined);
    if (language === undefined || text.length > MAX_HIGHLIGHTED) return;
    let isCurrent = true;
    void import("./highlight.ts").then(({ highlight }) => {
      if (isCurrent) setTokens(highlight(text, language));
    });
    return () => {
      isCurrent = false;
    };
  }, [text, language]);
  return tokens;
}
