import { Dialog } from "../ui/dialog.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["j / k", "Next or previous item of a list, or step of a run"],
  ["Enter", "Open the selected item"],
  ["/", "Search runs, or the steps of a run"],
  ["n", "New run"],
  ["f", "Write a follow-up, on the page of a run"],
  ["End", "Go to the latest step, on the page of a run"],
  ["e / E", "Next or previous error of a run"],
  ["Ctrl + Enter", "Send the form or the follow-up"],
  ["?", "Show this help"],
];

export const ShortcutHelp = ({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
    <dl className="shortcuts">
      {KEYS.map(([keys, text]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
