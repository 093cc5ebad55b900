import { useQuery } from "@tanstack/react-query";
import { Popover } from "radix-ui";
import { type ReactElement, useId } from "react";
import { RUN_SOURCES, RUN_STATES } from "../../clients/typescript/src/index.ts";
import { environmentsQuery, modelsQuery, peopleQuery, skillsQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { SelectField, TextField } from "../ui/field.tsx";
import { sourceLabel, stateLabel } from "../ui/run-state.tsx";
import type { FilterProps, RunSearch } from "./run-search.ts";

/** The filters in addition to the quick ones. */
export function FilterPopover({ trigger, ...props }: FilterProps & { readonly trigger: ReactElement }) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Content
        className="menu filter-panel"
        align="end"
        sideOffset={6}
        collisionPadding={8}
        aria-label="Filters"
      >
        <FilterFields {...props} />
      </Popover.Content>
    </Popover.Root>
  );
}

function FilterFields({ search, onChange }: FilterProps) {
  const { teams } = useMe();
  const models = useQuery(modelsQuery).data?.models ?? [];
  const environments = useQuery(environmentsQuery).data ?? [];
  const people = useQuery(peopleQuery(teams.map(({ uid }) => uid))).data ?? [];
  const skills = useQuery(skillsQuery).data?.flatMap(({ variants }) => variants) ?? [];
  const list = useId();
  const pick = (name: keyof RunSearch) => ({
    value: String(search[name] ?? ""),
    onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value || undefined }),
  });
  return (
    <div className="filter-fields">
      <SelectField label="State" {...pick("state")}>
        <Any />
        {RUN_STATES.map((state) => (
          <Choice key={state} value={state} label={stateLabel(state)} />
        ))}
      </SelectField>
      <SelectField label="Source" {...pick("source")}>
        <Any />
        {RUN_SOURCES.map((source) => (
          <Choice key={source} value={source} label={sourceLabel(source)} />
        ))}
      </SelectField>
      <SelectField label="Creator" {...pick("creator")}>
        <Any />
        {people.map(({ uid, name }) => (
          <Choice key={uid} value={uid} label={name} />
        ))}
      </SelectField>
      <SelectField label="Environment" {...pick("environment")}>
        <Any />
        <Choice value="empty-environment" label="None" />
        {environments.map(({ uid, config }) => (
          <Choice key={uid} value={uid} label={config.name} />
        ))}
      </SelectField>
      <SelectField label="Model" {...pick("model")}>
        <Any />
        {models.map(({ id, display_name }) => (
          <Choice key={id} value={id} label={display_name} />
        ))}
      </SelectField>
      <TextField label="Skill" list={list} placeholder="owner/repo:skill" {...pick("skill")} />
      <datalist id={list}>
        {skills.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <TextField label="Created from" type="date" {...pick("after")} />
      <TextField label="Created until" type="date" {...pick("before")} />
      <SelectField label="Archived" {...pick("archived")}>
        <Choice value="" label="No" />
        <Choice value="only" label="Only archived" />
        <Choice value="all" label="All" />
      </SelectField>
    </div>
  );
}

const Any = () => <option value="">Any</option>;
const Choice = ({ value, label }: { readonly value: string; readonly label: string }) => (
  <option value={value}>{label}</option>
);
