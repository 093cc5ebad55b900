import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { Empty, ErrorNotice } from "../ui/status.tsx";

export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="alone">
      <ErrorNotice error={error} onRetry={() => void router.invalidate()} />
    </main>
  );
}

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
