import { useQuery } from "@tanstack/react-query";
import { environmentsQuery, modelsQuery } from "../api/queries.ts";
import { SelectField } from "./field.tsx";

interface ChoiceProps {
  /** The id of the choice. Empty if the default applies. */
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (value: string) => void;
}

/** A choice of a model. */
export function ModelField({ value, error, onChange }: ChoiceProps) {
  const models = useQuery(modelsQuery).data;
  const defaultModel = models?.models.find(({ id }) => id === models.default_model_id);
  return (
    <SelectField label="Model" value={value} error={error} onChange={(event) => onChange(event.target.value)}>
      <option value="">Default{defaultModel === undefined ? "" : ` (${defaultModel.display_name})`}</option>
      {(models?.models ?? []).map(({ id, display_name, disable_reason }) => (
        <option key={id} value={id} disabled={disable_reason !== undefined}>
          {display_name}
        </option>
      ))}
    </SelectField>
  );
}

/** A choice of an environment. */
export function EnvironmentField({ value, error, onChange }: ChoiceProps) {
  const environments = useQuery(environmentsQuery).data ?? [];
  return (
    <SelectField label="Environment" value={value} error={error} onChange={(event) => onChange(event.target.value)}>
      <option value="">Default</option>
      {environments.map(({ uid, config }) => (
        <option key={uid} value={uid}>
          {config.name}
        </option>
      ))}
    </SelectField>
  );
}
