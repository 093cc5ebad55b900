import { type ReactElement, Suspense, useState } from "react";

interface OpenOnUseProps {
  readonly trigger: (open: () => void) => ReactElement;
  /** A lazy component that is open at first. */
  readonly children: ReactElement;
}

/** Loads a menu or a popover when its trigger is first used, so that the first page load does not wait for it. */
export function OpenOnUse({ trigger, children }: OpenOnUseProps) {
  const [isUsed, setUsed] = useState(false);
  const standIn = trigger(() => setUsed(true));
  return isUsed ? <Suspense fallback={standIn}>{children}</Suspense> : standIn;
}
