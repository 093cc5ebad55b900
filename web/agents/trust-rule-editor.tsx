import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { TrustRuleItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { fieldError } from "../api/problem.ts";
import { trustRulesQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { ScopeField, toScopeChoice } from "../keys/scope-field.tsx";
import { parseAmount } from "../ui/amount.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { formatWholeMinutes } from "../ui/format.ts";
import { InlineError } from "../ui/status.tsx";

interface TrustRuleEditorProps {
  readonly agentUid: string;
  /** The rule to change. Without it, a new one is made. */
  readonly rule?: TrustRuleItem;
  readonly onClose: () => void;
}

const GITHUB = "https://token.actions.githubusercontent.com";
const TTL_CHOICES = [300, 900, 1800, 3600];

export function TrustRuleEditor({ agentUid, rule, onClose }: TrustRuleEditorProps) {
  const [draft, setDraft] = useState({
    issuer: rule?.issuer ?? GITHUB,
    audience: rule?.audience ?? location.origin,
    subject: rule?.subject_pattern ?? "",
    ttl: rule?.ttl_seconds ?? 3600,
    budget: rule?.max_budget_usd === undefined ? "" : String(rule.max_budget_usd),
  });
  const [scopes, setScopes] = useState(rule === undefined ? undefined : toScopeChoice(rule.scopes));
  const change = (changes: Partial<typeof draft>) => setDraft((last) => ({ ...last, ...changes }));
  const budget = parseAmount(draft.budget);
  const save = useMutation({
    mutationFn: async () => {
      const body = {
        issuer: draft.issuer.trim(),
        audience: draft.audience.trim(),
        subject_pattern: draft.subject.trim(),
        ttl_seconds: draft.ttl,
        ...(budget.value === undefined ? {} : { max_budget_usd: budget.value }),
        ...(scopes === undefined ? {} : { scopes: [...scopes] }),
      };
      const { trustRules } = client.identities;
      await (rule === undefined ? trustRules.create(agentUid, body) : trustRules.update(agentUid, rule.uid, body));
      await refreshQueries({ queryKey: trustRulesQuery(agentUid).queryKey });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (budget.error === undefined) save.mutate();
  };
  const isComplete =
    [draft.issuer, draft.audience, draft.subject].every((text) => text.trim() !== "") && scopes?.length !== 0;
  const choices = [...new Set([...TTL_CHOICES, draft.ttl])].toSorted((a, b) => a - b);
  return (
    <Dialog open onClose={onClose} title={rule === undefined ? "New trust rule" : "Edit the trust rule"} wide>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <TextField
          label="Issuer"
          inputMode="url"
          hint={`The iss claim of the tokens, exactly. For GitHub Actions: ${GITHUB}`}
          value={draft.issuer}
          error={fieldError(save.error, "issuer")}
          onChange={(event) => change({ issuer: event.target.value })}
        />
        <TextField
          label="Subject pattern"
          placeholder="repo:owner/repository:ref:refs/heads/main"
          autoCapitalize="none"
          spellCheck={false}
          hint="The sub claim. Each * stands for any text. GitHub signs tokens for all its users, so name the repository."
          value={draft.subject}
          error={fieldError(save.error, "subject_pattern")}
          onChange={(event) => change({ subject: event.target.value })}
        />
        <TextField
          label="Audience"
          hint="A value of the aud claim that only this deployment has, such as its address."
          value={draft.audience}
          error={fieldError(save.error, "audience")}
          onChange={(event) => change({ audience: event.target.value })}
        />
        <div className="field-row">
          <SelectField
            label="Keys are valid for"
            value={draft.ttl}
            onChange={(event) => change({ ttl: Number(event.target.value) })}
          >
            {choices.map((seconds) => (
              <option key={seconds} value={seconds}>
                {formatWholeMinutes(seconds)}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Maximum budget of a run, in US dollars"
            optional
            inputMode="decimal"
            placeholder="No limit"
            value={draft.budget}
            error={budget.error ?? fieldError(save.error, "max_budget_usd")}
            onChange={(event) => change({ budget: event.target.value.replace(",", ".") })}
          />
        </div>
        <ScopeField value={scopes} error={fieldError(save.error, "scopes")} onChange={setScopes} />
        <InlineError error={save.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>Discard</Button>
          <Button type="submit" look="primary" busy={save.isPending} disabled={!isComplete}>
            {rule === undefined ? "Create the rule" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
