import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { APIError } from "../../clients/typescript/src/index.ts";
import { useTitle } from "../ui/page.tsx";
import { Empty, ErrorNotice } from "../ui/status.tsx";

export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  useTitle("Error");
  // Of other errors, such as a script that could not be loaded, the page remembers that it failed.
  const retry = () => (error instanceof APIError ? void router.invalidate() : location.reload());
  return (
    <main className="alone">
      <ErrorNotice error={error} onRetry={retry} />
    </main>
  );
}

export function NotFoundPage() {
  useTitle("Page not found");
  return (
    <main className="alone">
      <Empty title="Page not found">
        <p>There is no page at this address.</p>
        <Link to="/runs" search={{}} className="button button-plain">
          Show all runs
        </Link>
      </Empty>
    </main>
  );
}
