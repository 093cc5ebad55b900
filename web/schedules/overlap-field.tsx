import * as v from "valibot";
import { SelectField } from "../ui/field.tsx";
import { Overlap } from "./overlap.ts";

interface OverlapFieldProps {
  readonly value: Overlap;
  readonly onChange: (value: Overlap) => void;
}

/** What a schedule does at a time at which its last run is still active. */
export const OverlapField = ({ value, onChange }: OverlapFieldProps) => (
  <SelectField
    label="If the last run is still active"
    value={value}
    onChange={(event) => onChange(v.parse(Overlap, event.target.value))}
  >
    <option value="allow">Start another one</option>
    <option value="skip">Skip this time</option>
    <option value="cancel_previous">Cancel it</option>
  </SelectField>
);
