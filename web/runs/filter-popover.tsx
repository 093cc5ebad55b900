import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Popover } from "radix-ui";
import { type FormEvent, type ReactElement, useId, useState } from "react";
import { RUN_SOURCES, RUN_STATES } from "../../clients/typescript/src/index.ts";
import {
  environmentsQuery,
  identitiesQuery,
  modelsQuery,
  peopleQuery,
  schedulesQuery,
  skillsQuery,
} from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { triggersQuery } from "../triggers/trigger-queries.ts";
import { Button } from "../ui/button.tsx";
import { CheckField, SelectField, TextField } from "../ui/field.tsx";
import { checkMetadata } from "../ui/metadata-text.ts";
import { sourceLabel, stateLabel } from "../ui/run-state.tsx";
import { AMOUNT, type FilterProps, formatStates, isFiltered, parseStates, type RunSearch } from "./run-search.ts";
import { saveView } from "./saved-views.ts";

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
        <StateFields {...props} />
        <FilterFields {...props} />
        <p className="faint filter-note">
          <Link to="/usage">Usage</Link> has the costliest runs.
        </p>
        <SaveView {...props} />
      </Popover.Content>
    </Popover.Root>
  );
}

/** The states, of which several may be selected. */
function StateFields({ search, onChange }: FilterProps) {
  const states = parseStates(search.state);
  return (
    <fieldset className="filter-states">
      <legend className="legend">State</legend>
      {RUN_STATES.map((state) => (
        <CheckField
          key={state}
          label={stateLabel(state)}
          checked={states.includes(state)}
          onChange={({ target: { checked } }) =>
            onChange({ state: formatStates(checked ? [...states, state] : states.filter((one) => one !== state)) })
          }
        />
      ))}
    </fieldset>
  );
}

/** Saves the filters under a name in this browser. */
function SaveView({ search }: FilterProps) {
  const { uid } = useMe();
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saveView(uid, name.trim(), search);
    setName("");
  };
  return (
    <form className="filter-save" onSubmit={submit}>
      <TextField label="Save as a view" maxLength={60} value={name} onChange={({ target }) => setName(target.value)} />
      <Button type="submit" disabled={name.trim() === "" || !isFiltered(search)}>
        Save
      </Button>
    </form>
  );
}

/** Selects runs by their metadata, as soon as the text is valid. */
function MetadataField({ search, onChange }: FilterProps) {
  const [text, setText] = useState(search.metadata ?? "");
  const error = checkMetadata(text);
  return (
    <TextField
      label="Metadata"
      placeholder="ticket=SHOP-1412"
      value={text}
      error={error}
      onChange={({ target: { value } }) => {
        setText(value);
        if (checkMetadata(value) === undefined) onChange({ metadata: value.trim() || undefined });
      }}
    />
  );
}

/** Selects runs by what they have cost, as soon as the text is an amount. */
function CostField({ search, onChange }: FilterProps) {
  const [text, setText] = useState(search.cost ?? "");
  const isAmount = AMOUNT.test(text);
  return (
    <TextField
      label="Cost from, in US dollars"
      inputMode="decimal"
      placeholder="2.50"
      value={text}
      error={isAmount || text === "" ? undefined : "Enter an amount, such as 2.50."}
      onChange={({ target }) => {
        const value = target.value.trim();
        setText(value);
        if (value === "" || AMOUNT.test(value)) onChange({ cost: value || undefined });
      }}
    />
  );
}

function FilterFields({ search, onChange }: FilterProps) {
  const { teams } = useMe();
  const models = useQuery(modelsQuery).data?.models ?? [];
  const environments = useQuery(environmentsQuery).data ?? [];
  const people = useQuery(peopleQuery(teams.map(({ uid }) => uid))).data ?? [];
  const skills = useQuery(skillsQuery).data?.flatMap(({ variants }) => variants) ?? [];
  const agents = useQuery(identitiesQuery).data ?? [];
  const schedules = useQuery(schedulesQuery).data ?? [];
  const triggers = useQuery(triggersQuery).data ?? [];
  const list = useId();
  const pick = (name: keyof RunSearch) => ({
    value: String(search[name] ?? ""),
    onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value || undefined }),
  });
  return (
    <div className="filter-fields">
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
      <SelectField label="Agent" {...pick("agent")}>
        <Any />
        {agents.map(({ uid, name }) => (
          <Choice key={uid} value={uid} label={name} />
        ))}
      </SelectField>
      <SelectField label="Schedule" {...pick("schedule")}>
        <Any />
        {schedules.map(({ id, name }) => (
          <Choice key={id} value={id} label={name} />
        ))}
      </SelectField>
      <SelectField label="Trigger" {...pick("trigger")}>
        <Any />
        {triggers.map(({ uid, name }) => (
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
      <MetadataField search={search} onChange={onChange} />
      <CostField search={search} onChange={onChange} />
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
