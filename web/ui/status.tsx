import type { ReactNode } from "react";
import { describeError, isForbidden, isNotFound } from "../api/problem.ts";
import { Button } from "./button.tsx";
import { toSentence } from "./format.ts";

interface EmptyProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
}

/** Says that a list has no items, and what to do next. */
export const Empty = ({ icon, title, children }: EmptyProps) => (
  <div className="empty">
    {icon !== undefined && <div className="empty-icon">{icon}</div>}
    <h2>{title}</h2>
    {children !== undefined && <div className="empty-text">{children}</div>}
  </div>
);

/** Placeholders with the height of the rows that are being loaded, so that nothing moves when they come. */
export const LoadingRows = ({ rows = 6, height = 52 }: { readonly rows?: number; readonly height?: number }) => (
  <div className="skeleton-rows" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the placeholders are all alike.
      <div key={index} className="skeleton" style={{ height }} />
    ))}
  </div>
);

/** Shows an error in place of content; a missing permission has no button to try again. */
export function ErrorNotice({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  const { title, text, traceId } = describeError(error);
  const isMissing = isNotFound(error);
  return (
    <div className="empty" role="alert">
      <h2>{title}</h2>
      <div className="empty-text">
        <p className="pre-line">{toSentence(text)}</p>
        {traceId !== undefined && !isMissing && (
          <p className="faint">
            Trace id <code>{traceId}</code>
          </p>
        )}
        <p className="row">
          {onRetry !== undefined && !isForbidden(error) && <Button onClick={onRetry}>Try again</Button>}
          {isMissing && (
            <a href="/runs" className="button button-plain">
              Show all runs
            </a>
          )}
        </p>
      </div>
    </div>
  );
}

/** An error of an action, next to its button. */
export function InlineError({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const { title, text } = describeError(error);
  return (
    <p className="form-error" role="alert">
      <strong>{title}.</strong> {toSentence(text)}
    </p>
  );
}

interface QueryState {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

interface LoadedProps<T> {
  readonly query: QueryState & { readonly data: T | undefined };
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/** Shows the result of a query, or its loading or error state. */
export function Loaded<T>({ query, rows, children }: LoadedProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  return <LoadingRows {...(rows === undefined ? {} : { rows })} />;
}
