import { useEffect } from "react";

/** Calls `recover` periodically, and as soon as the browser is online again. */
export function useRecovery(recover: () => void, periodMs: number): void {
  useEffect(() => {
    const timer = setInterval(recover, periodMs);
    addEventListener("online", recover);
    return () => {
      clearInterval(timer);
      removeEventListener("online", recover);
    };
  }, [recover, periodMs]);
}
