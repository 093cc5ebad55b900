import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { flushSync } from "react-dom";
import { Button, IconButton } from "../ui/button.tsx";
import type { Row } from "./environment-draft.ts";

interface RowsProps<T extends Row> {
  readonly title: string;
  /** What a row is, in lower case. */
  readonly item: string;
  readonly hint?: string;
  readonly error: string | undefined;
  readonly rows: readonly T[];
  readonly max: number;
  readonly blank: () => T;
  readonly onChange: (rows: readonly T[]) => void;
  /** The fields of a row. */
  readonly children: (row: T, index: number, change: (changes: Partial<T>) => void) => ReactNode;
}

/** A part of a form with a row for each item of a list. The focus follows what is added and removed. */
export function Rows<T extends Row>({ title, item, hint, error, rows, max, blank, onChange, children }: RowsProps<T>) {
  const part = useRef<HTMLFieldSetElement>(null);

  const add = () => {
    const row = blank();
    flushSync(() => onChange([...rows, row]));
    part.current?.querySelector<HTMLElement>(`[data-row="${row.id}"] .input`)?.focus();
  };
  const remove = (id: number) => {
    flushSync(() => onChange(rows.filter((row) => row.id !== id)));
    part.current?.querySelector<HTMLElement>(".add-row")?.focus();
  };
  return (
    <fieldset ref={part} className="stack form-rows">
      <legend className="legend">{title}</legend>
      {hint !== undefined && <p className="field-hint">{hint}</p>}
      {rows.map((row, index) => (
        <div key={row.id} data-row={row.id} className="form-row">
          <div className="form-row-fields">
            {children(row, index, (changes) =>
              onChange(rows.map((one) => (one.id === row.id ? { ...one, ...changes } : one))),
            )}
          </div>
          <IconButton label={`Remove ${item} ${index + 1}`} onClick={() => remove(row.id)}>
            <Trash2 size={15} aria-hidden />
          </IconButton>
        </div>
      ))}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <div>
        <Button
          small
          className="add-row"
          icon={<Plus size={14} aria-hidden />}
          disabled={rows.length >= max}
          onClick={add}
        >
          Add a {item}
        </Button>
      </div>
    </fieldset>
  );
}
