import { Dialog } from "../ui/dialog.tsx";
import { PLACES } from "./places.ts";

const PARTS: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl + K", "Find a page, a run or an action"],
      ["/", "Search runs, or the steps of a run"],
      ["n", "New run"],
      ["Ctrl + Enter", "Send the form or the follow-up"],
      ["?", "Show this help"],
    ],
  },
  { title: "Pages", keys: PLACES.map(({ label, key }) => [`g ${key}`, label] as const) },
  {
    title: "Lists",
    keys: [
      ["j / k", "Next or previous item of a list, or step of a run"],
      ["Enter", "Open the item"],
      ["x", "Select the run, while runs are being selected"],
    ],
  },
  {
    title: "A run",
    keys: [
      ["f", "Write a follow-up"],
      ["End", "Go to the latest step"],
      ["e / E", "Next or previous error"],
    ],
  },
];

export const ShortcutHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog open onClose={onClose} title="Keyboard shortcuts" wide>
    <div className="shortcut-parts">
      {PARTS.map(({ title, keys }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <dl className="shortcuts">
            {keys.map(([key, text]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
);
