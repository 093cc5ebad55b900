import { Tabs } from "radix-ui";
import { useMemo } from "react";
import { CopyButton } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import type { Draft } from "./draft.ts";
import { toSnippets } from "./snippets.ts";

/** The same request as code, to copy. */
export function SnippetPanel({ draft, files }: { readonly draft: Draft; readonly files: readonly File[] }) {
  const snippets = useMemo(() => toSnippets(draft, draft.isScheduled ? [] : files), [draft, files]);
  return (
    <Tabs.Root defaultValue="curl" className="card snippets">
      <div className="card-head">
        <Tabs.List className="views" aria-label="The request as code">
          {snippets.map(({ name }) => (
            <Tabs.Trigger key={name} value={name} className="view">
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
      </div>
      {snippets.map(({ name, language, text }) => (
        <Tabs.Content key={name} value={name} className="snippet">
          <Code text={text} language={language} />
          <div className="snippet-copy">
            <CopyButton text={text} label={`Copy ${name}`} />
          </div>
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
