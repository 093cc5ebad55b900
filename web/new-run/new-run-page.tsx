import "../styles/new-run.css";
import "../styles/text.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { runQuery } from "../api/queries.ts";
import { Page } from "../ui/page.tsx";
import { ErrorNotice, LoadingRows } from "../ui/status.tsx";
import { type Draft, emptyDraft, toDraft } from "./draft.ts";
import { NewRunForm } from "./new-run-form.tsx";

const route = getRouteApi("/shell/runs/new");

export function NewRunPage() {
  const { from, schedule, environment = "", skill = "" } = route.useSearch();
  const kind = schedule === undefined ? "new-run" : "new-schedule";
  const name = environment + skill === "" ? kind : `${kind}:${environment}:${skill}`;
  return (
    <Page
      title={schedule === undefined ? "New run" : "New schedule"}
      lead={from === undefined ? undefined : "A copy of another run, without its attachments and its mode."}
    >
      {from === undefined ? (
        <NewRunForm
          key={name}
          name={name}
          first={{ ...emptyDraft(), environment, skill, isScheduled: schedule !== undefined }}
        />
      ) : (
        <Copied key={from} runId={from} />
      )}
    </Page>
  );
}

function Copied({ runId }: { readonly runId: string }) {
  const { data, error, refetch } = useQuery(runQuery(runId));
  if (error !== null && data === undefined) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingRows />;
  const first: Draft = toDraft(data);
  return <NewRunForm name={`new-run:${runId}`} first={first} />;
}
