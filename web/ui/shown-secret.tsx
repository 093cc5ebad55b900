import { Button, CopyButton } from "./button.tsx";

interface ShownSecretProps {
  readonly value: string;
  /** The label of the button that copies it. */
  readonly copyLabel: string;
  readonly onClose: () => void;
}

/**
 * What a dialog shows after a secret was created, which the API returns only once. It takes the place of the form in the same dialog,
 * which thus returns the focus to the button that opened it.
 */
export const ShownSecret = ({ value, copyLabel, onClose }: ShownSecretProps) => (
  <>
    <div className="secret">
      <code>{value}</code>
      <CopyButton text={value} label={copyLabel} />
    </div>
    <div className="dialog-actions">
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </>
);
