import { useQuery } from "@tanstack/react-query";
import { RUN_SOURCES, type WebhookItem } from "../../clients/typescript/src/index.ts";
import { errorAt } from "../api/problem.ts";
import { environmentsQuery, schedulesQuery } from "../api/queries.ts";
import { SelectField, TextArea, TextField } from "../ui/field.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { checkMetadata, formatMetadata, parseMetadata } from "../ui/metadata-text.ts";
import { sourceLabel } from "../ui/run-state.tsx";

type Filter = NonNullable<WebhookItem["filter"]>;

/** The members of a filter that the form sets, as texts that are empty where a member is absent, and the others. */
export interface FilterDraft {
  readonly environment_id: string;
  readonly schedule_id: string;
  readonly source: string;
  readonly name: string;
  readonly skill: string;
  readonly metadata: string;
  readonly others: Filter;
}

export function toFilterDraft(filter: Filter = {}): FilterDraft {
  const { environment_id, schedule_id, source = "", name, skill, skill_spec, metadata, ...rest } = filter;
  // The form offers one source.
  const [one, others] = typeof source === "string" ? [source, rest] : ["", { ...rest, source }];
  return {
    environment_id: environment_id ?? "",
    schedule_id: schedule_id ?? "",
    source: one,
    name: name ?? "",
    skill: skill ?? skill_spec ?? "",
    metadata: formatMetadata(metadata),
    others,
  };
}

/** The filter of a request. An empty one stands for all runs. */
export function toFilter({ metadata, others, ...texts }: FilterDraft): Filter {
  const parsed = parseMetadata(metadata);
  const entries = Object.entries(texts).flatMap(([name, text]) => (text.trim() === "" ? [] : [[name, text.trim()]]));
  return { ...others, ...Object.fromEntries(entries), ...(parsed === undefined ? {} : { metadata: parsed }) };
}

/** What is wrong with the texts that only the form reads, if anything is. */
export const checkFilter = ({ metadata }: FilterDraft): string | undefined => checkMetadata(metadata);

interface FilterFieldsProps {
  readonly draft: FilterDraft;
  readonly error: unknown;
  readonly onChange: (draft: FilterDraft) => void;
}

/** The runs whose events a webhook receives. */
export function FilterFields({ draft, error, onChange }: FilterFieldsProps) {
  const environments = useQuery(environmentsQuery).data ?? [];
  const schedules = useQuery(schedulesQuery).data ?? [];
  const wire = (name: Exclude<keyof FilterDraft, "others">) => ({
    value: draft[name],
    error: errorAt(error, `filter.${name}`),
    onChange: (event: { target: { value: string } }) => onChange({ ...draft, [name]: event.target.value }),
  });
  return (
    <fieldset className="stack">
      <legend className="legend">Runs</legend>
      <div className="field-row">
        <SelectField label="Environment" {...wire("environment_id")}>
          <Choices
            value={draft.environment_id}
            choices={[
              ["empty-environment", "None"],
              ...environments.map(({ uid, config }) => [uid, config.name] as const),
            ]}
          />
        </SelectField>
        <SelectField label="Schedule" {...wire("schedule_id")}>
          <Choices value={draft.schedule_id} choices={schedules.map(({ id, name }) => [id, name])} />
        </SelectField>
      </div>
      <div className="field-row">
        <SelectField label="Source" {...wire("source")}>
          <Choices value={draft.source} choices={RUN_SOURCES.map((source) => [source, sourceLabel(source)])} />
        </SelectField>
        <TextField
          label="Skill"
          optional
          placeholder="owner/repo:path/to/SKILL.md"
          spellCheck={false}
          {...wire("skill")}
        />
      </div>
      <TextField
        label="Configuration name"
        optional
        hint="The name in the configuration of a run, such as that of its skill."
        {...wire("name")}
      />
      <TextArea
        label="Metadata"
        optional
        rows={2}
        placeholder="deploy=yes"
        className="input mono"
        spellCheck={false}
        hint="One name=value in each line. A run needs all of them."
        {...wire("metadata")}
        error={checkFilter(draft) ?? errorAt(error, "filter.metadata")}
      />
      {Object.keys(draft.others).length > 0 && (
        <p className="field-hint">
          Also runs need <code>{revealHidden(JSON.stringify(draft.others))}</code>, which the API has set.
        </p>
      )}
    </fieldset>
  );
}

interface ChoicesProps {
  readonly value: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** The options of a member: any, the choices, and a value that is none of them, such as what was deleted. */
const Choices = ({ value, choices }: ChoicesProps) => (
  <>
    <option value="">Any</option>
    {choices.map(([one, label]) => (
      <option key={one} value={one}>
        {label}
      </option>
    ))}
    {value !== "" && !choices.some(([one]) => one === value) && <option value={value}>{revealHidden(value)}</option>}
  </>
);
