import { Link } from "@tanstack/react-router";
import { Inbox, Plus, SearchX } from "lucide-react";
import { Empty } from "../ui/status.tsx";
import { type FilterProps, isFiltered, NO_FILTERS } from "./run-search.ts";

/** In place of the list: there are no runs, or none that match. */
export function NoRuns({ search, onChange }: FilterProps) {
  if (!isFiltered(search)) {
    return (
      <Empty icon={<Inbox size={32} aria-hidden />} title="No runs yet">
        <p>A run is one task that an agent executes. Start one here, or by the API, the command line or a schedule.</p>
        <Link to="/runs/new" search={{}} className="button button-primary">
          <Plus size={16} aria-hidden />
          <span>New run</span>
        </Link>
      </Empty>
    );
  }
  return (
    <Empty icon={<SearchX size={32} aria-hidden />} title="No matching runs">
      <p>No run matches the search and the filters.</p>
      <button type="button" className="button button-plain" onClick={() => onChange(NO_FILTERS)}>
        Show all runs
      </button>
    </Empty>
  );
}
