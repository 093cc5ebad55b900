import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { RUN_SOURCES } from "../../clients/typescript/src/index.ts";
import { environmentsQuery, identitiesQuery, modelsQuery, peopleQuery, schedulesQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { triggersQuery } from "../triggers/trigger-queries.ts";
import { IconButton } from "../ui/button.tsx";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { sourceLabel, stateLabel } from "../ui/run-state.tsx";
import { activeFilters, type FilterName, type FilterProps, parseStates, type RunSearch } from "./run-search.ts";

const NAMES: Readonly<Partial<Record<keyof RunSearch, string>>> = { after: "From", before: "Until", cost: "Cost from" };

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
  const isPerson = search.creator !== undefined;
  const people = useQuery({ ...peopleQuery(teams.map(({ uid }) => uid)), enabled: isPerson }).data ?? [];
  const agents = useQuery({ ...identitiesQuery, enabled: search.agent !== undefined }).data ?? [];
  const schedules = useQuery({ ...schedulesQuery, enabled: search.schedule !== undefined }).data ?? [];
  const triggers = useQuery({ ...triggersQuery, enabled: search.trigger !== undefined }).data ?? [];
  const names = new Map([
    ...models.map(({ id, display_name }) => [id, display_name] as const),
    ...environments.map(({ uid, config }) => [uid, config.name] as const),
    ...[...people, ...agents, ...triggers].map(({ uid, name }) => [uid, name] as const),
    ...schedules.map(({ id, name }) => [id, name] as const),
  ]);
  return (name) => {
    const value = search[name] ?? "";
    if (name === "state") return parseStates(search.state).map(stateLabel).join(", ");
    const source = RUN_SOURCES.find((one) => one === value);
    if (name === "source" && source !== undefined) return sourceLabel(source);
    if (name === "cost") return `$${value}`;
    if (name === "archived") return toWords(value);
    if (name === "environment" && value === "empty-environment") return "None";
    return names.get(value) ?? value;
  };
}
