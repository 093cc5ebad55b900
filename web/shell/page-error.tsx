import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { useCallback } from "react";
import { APIError } from "../../clients/typescript/src/index.ts";
import { isRefused } from "../api/problem.ts";
import { Page, useTitle } from "../ui/page.tsx";
import { ErrorNotice } from "../ui/status.tsx";
import { MissingPartError, reloadIfReachable } from "./reload.ts";
import { useRecovery } from "./use-recovery.ts";

const RETRY_MS = 5000;

/** An error in place of a page. What is missing for lack of a connection comes back by itself. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  useTitle("Error");
  // Of other errors, such as a script that could not be loaded, the page remembers that it failed.
  const retry = () => (error instanceof APIError ? void router.invalidate() : location.reload());
  const recover = useCallback(() => {
    if (error instanceof MissingPartError) void reloadIfReachable();
    else if (error instanceof APIError && !isRefused(error)) void router.invalidate();
  }, [error, router]);
  useRecovery(recover, RETRY_MS);
  return (
    <div className="page">
      <h1 className="visually-hidden">Error</h1>
      <ErrorNotice error={error} onRetry={retry} />
    </div>
  );
}

/** An error of something that all pages need; the frame of the pages is missing, too. */
export const AppError = (props: ErrorComponentProps) => (
  <main className="alone">
    <PageError {...props} />
  </main>
);

export const NotFoundPage = () => (
  <Page title="Page not found" lead="There is no page at this address.">
    <Link to="/runs" search={{}} className="button button-plain">
      Show all runs
    </Link>
  </Page>
);
