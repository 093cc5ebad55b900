import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { RUN_SOURCES } from "../../clients/typescript/src/index.ts";
import { environmentsQuery, modelsQuery, peopleQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { IconButton } from "../ui/button.tsx";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { sourceLabel, stateLabel } from "../ui/run-state.tsx";
import { activeFilters, type FilterName, type FilterProps, type RunSearch } from "./run-search.ts";

const NAMES: Readonly<Partial<Record<keyof RunSearch, string>>> = { after: "From", before: "Until" };

/** The filters that are set, each with a button that removes it. */
export function FilterChips({ search, onChange }: FilterProps) {
  const valueLabel = useValueLabels(search);
  return (
    <ul className="filter-chips" aria-label="Active filters">
      {activeFilters(search).map((name) => (
        <li key={name} className="chip">
          {NAMES[name] ?? toWords(name)} <strong className="truncate">{revealHidden(valueLabel(name))}</strong>
          <IconButton label={`Remove the filter ${name}`} onClick={() => onChange({ [name]: undefined })}>
            <X size={13} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

/** The names of what the filters name by ids. An id without a known name is shown as it is. */
function useValueLabels(search: RunSearch): (name: FilterName) => string {
  const { teams } = useMe();
  const models = useQuery({ ...modelsQuery, enabled: search.model !== undefined }).data?.models ?? [];
  const environments = useQuery({ ...environmentsQuery, enabled: search.environment !== undefined }).data ?? [];
  const people =
    useQuery({ ...peopleQuery(teams.map(({ uid }) => uid)), enabled: search.creator !== undefined }).data ?? [];
  return (name) => {
    const value = search[name] ?? "";
    if (search.state !== undefined && name === "state") return stateLabel(search.state);
    const source = RUN_SOURCES.find((one) => one === value);
    if (name === "source" && source !== undefined) return sourceLabel(source);
    if (name === "creator") return people.find(({ uid }) => uid === value)?.name ?? value;
    if (name === "archived") return toWords(value);
    if (name === "model") return models.find(({ id }) => id === value)?.display_name ?? value;
    if (name !== "environment") return value;
    return value === "empty-environment"
      ? "None"
      : (environments.find(({ uid }) => uid === value)?.config.name ?? value);
  };
}
