import type { Query } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { describeError, isRefused } from "../api/problem.ts";
import { queryClient } from "../api/query-client.ts";
import { useRecovery } from "./use-recovery.ts";

/** Says that what is shown may be out of date, because it could not be read again. */
export function StaleNotice() {
  const error = useSyncExternalStore(subscribe, findError);
  useRecovery(recover, RECOVERY_MS);
  if (error === undefined) return null;
  const retry = () => void queryClient.refetchQueries({ type: "active", predicate: isStale });
  return (
    <p className="stale-notice" role="status">
      <span>
        <strong>{describeError(error).title}.</strong> What is shown may be out of date.
      </span>
      <button type="button" className="link-button" onClick={retry}>
        Try again
      </button>
    </p>
  );
}

/** A further page that could not be read is missing, and its list says so. */
const isStale = ({ state: { status, data, fetchMeta } }: Query): boolean =>
  status === "error" && data !== undefined && fetchMeta?.fetchMore === undefined;

const subscribe = (onChange: () => void) => queryClient.getQueryCache().subscribe(onChange);

const findError = (): Error | undefined =>
  queryClient.getQueryCache().findAll({ type: "active", predicate: isStale })[0]?.state.error ?? undefined;

const RECOVERY_MS = 10_000;

/** Reads again what could not be read for lack of a connection, or because the service failed. */
function recover(): void {
  const isLost = ({ state: { status, error, fetchMeta } }: Query) =>
    status === "error" && !isRefused(error) && fetchMeta?.fetchMore === undefined;
  void queryClient.refetchQueries({ type: "active", predicate: isLost });
}
