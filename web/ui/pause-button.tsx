import { Pause, Play } from "lucide-react";
import { Button, IconButton } from "./button.tsx";

interface PauseButtonProps {
  readonly enabled: boolean;
  readonly busy: boolean;
  readonly onClick: () => void;
}

/** Pauses a schedule or a trigger, or resumes it if it is paused. */
export const PauseButton = ({ enabled, busy, onClick }: PauseButtonProps) => (
  <Button
    icon={enabled ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
    busy={busy}
    onClick={onClick}
  >
    {enabled ? "Pause" : "Resume"}
  </Button>
);

interface PauseIconProps extends Omit<PauseButtonProps, "busy"> {
  readonly name: string;
}

/** The same in a row of a list. */
export const PauseIcon = ({ name, enabled, onClick }: PauseIconProps) => (
  <IconButton label={enabled ? `Pause ${name}` : `Resume ${name}`} onClick={onClick}>
    {enabled ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
  </IconButton>
);
