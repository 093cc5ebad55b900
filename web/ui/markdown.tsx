import { lazy, memo, Suspense } from "react";
import { revealHidden } from "./hidden-characters.ts";
import { isPlainText } from "./plain-text.ts";

const loadView = async () => ({ default: (await import("./markdown-view.tsx")).MarkdownView });
const MarkdownView = lazy(loadView);

/** Text that an agent or a person wrote. It is shown as it is until the renderer is loaded. */
export const Markdown = memo(({ text }: { readonly text: string }) => {
  const plain = <PlainText text={text} />;
  if (isPlainText(text)) return plain;
  return (
    <Suspense fallback={plain}>
      <MarkdownView text={text} plain={plain} />
    </Suspense>
  );
});

/** Starts to load the renderer before there is text to render. */
export const preloadMarkdown = (): void => void loadView();

/** The most of a text that is put into the page. */
const MAX_PLAIN = 200_000;

const PlainText = ({ text }: { readonly text: string }) => (
  <p className="plain-text" dir="auto">
    {revealHidden(text.slice(0, MAX_PLAIN))}
    {text.length > MAX_PLAIN && " …"}
  </p>
);
