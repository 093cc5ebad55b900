import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { CreatedKey, CreateKeyRequest } from "../../clients/typescript/src/index.ts";
import { fieldError } from "../api/problem.ts";
import { parseAmount } from "../ui/amount.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { ShownSecret } from "../ui/shown-secret.tsx";
import { InlineError } from "../ui/status.tsx";
import { type ScopeChoice, ScopeField } from "./scope-field.tsx";

const DAY_MS = 86_400_000;

interface NewKeyProps {
  readonly create: (request: CreateKeyRequest) => Promise<CreatedKey>;
  readonly onClose: () => void;
}

/** The dialog that creates a key and shows it once. */
export function NewKey({ create, onClose }: NewKeyProps) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [scopes, setScopes] = useState<ScopeChoice>();
  const [budgetText, setBudgetText] = useState("");
  const [runsText, setRunsText] = useState("");
  const budget = parseAmount(budgetText);
  const runs = parseAmount(runsText);
  // The time of opening, so that a repeated request is the same one.
  const [openedAt] = useState(Date.now);
  const make = useMutation({
    mutationFn: () =>
      create({
        name: name.trim(),
        ...(scopes === undefined ? {} : { scopes: [...scopes] }),
        ...(budget.value === undefined ? {} : { max_budget_usd: budget.value }),
        ...(runs.value === undefined ? {} : { max_runs_per_day: runs.value }),
        ...(days === "" ? {} : { expires_at: new Date(openedAt + Number(days) * DAY_MS).toISOString() }),
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (budget.error === undefined && runs.error === undefined) make.mutate();
  };
  const key = make.data?.key;
  return (
    <Dialog
      open
      onClose={onClose}
      title={key === undefined ? "New API key" : "Copy the key now"}
      description={key && "It is shown this once. Store it where only its user can read it."}
    >
      {key === undefined ? (
        <form className="dialog-form" onSubmit={submit} noValidate>
          <TextField
            label="Name"
            placeholder="What uses it"
            value={name}
            error={fieldError(make.error, "name")}
            onChange={(event) => setName(event.target.value)}
          />
          <SelectField label="Expires" value={days} onChange={(event) => setDays(event.target.value)}>
            <option value="7">After 7 days</option>
            <option value="30">After 30 days</option>
            <option value="90">After 90 days</option>
            <option value="365">After a year</option>
            <option value="">Never</option>
          </SelectField>
          <ScopeField value={scopes} error={fieldError(make.error, "scopes")} onChange={setScopes} />
          <div className="field-row">
            <TextField
              label="Cost of its runs in a month, in US dollars"
              optional
              inputMode="decimal"
              placeholder="No limit"
              value={budgetText}
              error={budget.error ?? fieldError(make.error, "max_budget_usd")}
              onChange={(event) => setBudgetText(event.target.value.replace(",", "."))}
            />
            <TextField
              label="Runs in a day"
              optional
              inputMode="numeric"
              placeholder="No limit"
              value={runsText}
              error={runs.error ?? fieldError(make.error, "max_runs_per_day")}
              onChange={(event) => setRunsText(event.target.value)}
            />
          </div>
          <InlineError error={make.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Discard</Button>
            <Button
              type="submit"
              look="primary"
              busy={make.isPending}
              disabled={name.trim() === "" || scopes?.length === 0}
            >
              Create the key
            </Button>
          </div>
        </form>
      ) : (
        <ShownSecret value={key} copyLabel="Copy the key" onClose={onClose} />
      )}
    </Dialog>
  );
}
