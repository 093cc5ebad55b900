import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: boolean;
}

interface Wiring {
  readonly id: string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean | undefined;
}

function Field({
  label,
  hint,
  error,
  optional,
  children,
}: FieldProps & { readonly children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {optional && <span className="optional"> optional</span>}
      </label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": error === undefined ? undefined : true })}
      <div id={`${id}-hint`}>
        {error !== undefined && (
          <p className="field-error" role="alert">
            {error}
          </p>
        )}
        {hint !== undefined && error === undefined && <p className="field-hint">{hint}</p>}
      </div>
    </div>
  );
}

type TextFieldProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, "id">;

export const TextField = ({ label, hint, error, optional, ...input }: TextFieldProps) => (
  <Field {...{ label, hint, error, ...(optional ? { optional } : {}) }}>
    {(wiring) => <input className="input" {...input} {...wiring} />}
  </Field>
);

type TextAreaProps = FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "id">;

export const TextArea = ({ label, hint, error, optional, ...area }: TextAreaProps) => (
  <Field {...{ label, hint, error, ...(optional ? { optional } : {}) }}>
    {(wiring) => <textarea className="input" {...area} {...wiring} />}
  </Field>
);

type SelectFieldProps = FieldProps & Omit<SelectHTMLAttributes<HTMLSelectElement>, "id">;

export const SelectField = ({ label, hint, error, optional, children, ...select }: SelectFieldProps) => (
  <Field {...{ label, hint, error, ...(optional ? { optional } : {}) }}>
    {(wiring) => (
      <select className="input" {...select} {...wiring}>
        {children}
      </select>
    )}
  </Field>
);

interface CheckFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type"> {
  readonly label: string;
  readonly hint?: string;
}

export const CheckField = ({ label, hint, ...input }: CheckFieldProps) => (
  <label className="check-field">
    <input type="checkbox" {...input} />
    <span>
      {label}
      {hint !== undefined && <span className="field-hint">{hint}</span>}
    </span>
  </label>
);
