import { memo, Suspense, useState } from "react";
import { formatBytes } from "../format.ts";
import { revealHidden } from "../hidden-characters.ts";
import { part } from "../part.tsx";
import { isPlainText } from "./plain-text.ts";

/** Renders Markdown. */
export const MarkdownView = part(async () => (await import("./markdown-view.tsx")).MarkdownView);

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

/** The part of a text that is put into the page at once: browsers break long words into lines slowly. */
const STEP_CHARACTERS = 12_000;

function PlainText({ text }: { readonly text: string }) {
  const [steps, setSteps] = useState(1);
  const parts = Array.from({ length: steps }, (_, index) =>
    text.slice(index * STEP_CHARACTERS, (index + 1) * STEP_CHARACTERS),
  );
  return (
    <div>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended.
        <p key={index} className="plain-text" dir="auto">
          {revealHidden(part)}
        </p>
      ))}
      {text.length > steps * STEP_CHARACTERS && (
        <button type="button" className="link-button" onClick={() => setSteps(steps + 1)}>
          Show more of {formatBytes(text.length - steps * STEP_CHARACTERS)}
        </button>
      )}
    </div>
  );
}
