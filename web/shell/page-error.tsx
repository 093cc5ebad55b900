import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Empty, ErrorNotice } from "../ui/status.tsx";

export const PageError = ({ error, reset }: ErrorComponentProps) => (
  <main className="alone">
    <ErrorNotice error={error} onRetry={reset} />
  </main>
);

export const NotFoundPage = () => (
  <main className="alone">
    <Empty title="Page not found">
      <p>There is no page at this address.</p>
      <Link to="/runs" search={{}} className="button button-plain">
        Show all runs
      </Link>
    </Empty>
  </main>
);
