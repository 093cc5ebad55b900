import { SCOPES } from "#shared/wire/keys/scopes.ts";
import type { Scope } from "../../clients/typescript/src/index.ts";
import { CheckField, SelectField } from "../ui/field.tsx";

/** The scopes of a new credential; undefined for all that its creator has. */
export type ScopeChoice = readonly Scope[] | undefined;

interface ScopeFieldProps {
  readonly value: ScopeChoice;
  readonly error: string | undefined;
  readonly onChange: (value: ScopeChoice) => void;
}

/** Chooses what a key may be used for. */
export function ScopeField({ value, error, onChange }: ScopeFieldProps) {
  return (
    <>
      <SelectField
        label="Scopes"
        hint="What the key may be used for. Choose the fewest that do."
        error={error}
        value={value === undefined ? "all" : "some"}
        onChange={(event) => onChange(event.target.value === "all" ? undefined : ["runs:read", "runs:write"])}
      >
        <option value="all">All of yours</option>
        <option value="some">Selected ones</option>
      </SelectField>
      {value !== undefined && (
        <fieldset className="field-row" aria-label="Selected scopes">
          {SCOPES.map((scope) => (
            <CheckField
              key={scope}
              label={scope}
              checked={value.includes(scope)}
              onChange={({ target }) =>
                onChange(SCOPES.filter((one) => (one === scope ? target.checked : value.includes(one))))
              }
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

/** The choice that stands for the scopes of an existing credential. */
export const toScopeChoice = (scopes: readonly Scope[]): ScopeChoice =>
  scopes.length === SCOPES.length ? undefined : scopes;

/** The scopes of a credential in words. */
export const describeScopes = (scopes: readonly Scope[]): string =>
  scopes.length === SCOPES.length ? "All scopes" : scopes.join(", ");
