import { useMutation, useQuery } from "@tanstack/react-query";
import { Pencil, Plus, ShieldCheck, Trash2 } from "lucide-react";
import { useState } from "react";
import type { TrustRuleItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { trustRulesQuery } from "../api/queries.ts";
import { refreshQueries } from "../api/query-client.ts";
import { describeScopes } from "../keys/scope-field.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { formatUsd, formatWholeMinutes } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { personName } from "../ui/person-name.ts";
import { Empty, Loaded } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { TrustRuleEditor } from "./trust-rule-editor.tsx";

/** The rules by which OIDC tokens are exchanged for keys of an agent. */
export function TrustRules({ agentUid }: { readonly agentUid: string }) {
  const rules = trustRulesQuery(agentUid);
  const query = useQuery(rules);
  const [editing, setEditing] = useState<TrustRuleItem | "new">();
  const [deleting, setDeleting] = useState<TrustRuleItem>();
  const remove = useMutation({
    mutationFn: (uid: string) => client.identities.trustRules.delete(agentUid, uid),
    onSuccess: async () => {
      setDeleting(undefined);
      await refreshQueries({ queryKey: rules.queryKey });
    },
  });
  const close = () => {
    setDeleting(undefined);
    remove.reset();
  };
  return (
    <section className="card" aria-label="Trust rules">
      <div className="card-head">
        <h2>Trust rules</h2>
        <Button small icon={<Plus size={14} aria-hidden />} onClick={() => setEditing("new")}>
          New rule
        </Button>
      </div>
      <Loaded query={query} rows={1}>
        {(items) =>
          items.length === 0 ? (
            <Empty icon={<ShieldCheck size={26} aria-hidden />} title="No trust rules">
              <p>A rule lets a CI job exchange its OIDC token for a key that expires within an hour.</p>
            </Empty>
          ) : (
            <RuleRows rules={items} onEdit={setEditing} onDelete={setDeleting} />
          )
        }
      </Loaded>
      {editing !== undefined && (
        <TrustRuleEditor
          agentUid={agentUid}
          {...(editing === "new" ? {} : { rule: editing })}
          onClose={() => setEditing(undefined)}
        />
      )}
      <Confirm
        open={deleting !== undefined}
        onClose={close}
        title="Delete the trust rule?"
        text={`Tokens of ${revealHidden(deleting?.subject_pattern ?? "")} are refused from then on, and so are the keys that the rule gave.`}
        action="Delete the rule"
        busy={remove.isPending}
        error={remove.error === null ? undefined : describeError(remove.error).text}
        onConfirm={() => deleting !== undefined && remove.mutate(deleting.uid)}
      />
    </section>
  );
}

interface RuleRowsProps {
  readonly rules: readonly TrustRuleItem[];
  readonly onEdit: (rule: TrustRuleItem) => void;
  readonly onDelete: (rule: TrustRuleItem) => void;
}

const RuleRows = ({ rules, onEdit, onDelete }: RuleRowsProps) => (
  <ul className="item-list">
    {rules.map((rule) => (
      <li key={rule.uid} className="item key">
        <div className="item-main">
          <code className="item-title mono">{revealHidden(rule.subject_pattern)}</code>
          <p className="item-facts">
            <span>{revealHidden(rule.issuer)}</span>
            <span>for {revealHidden(rule.audience)}</span>
            <span>{describeScopes(rule.scopes)}</span>
          </p>
        </div>
        <dl className="key-facts">
          <div>
            <dt>Saved</dt>
            <dd>
              <Time at={rule.updated_at} /> by {personName(rule.saved_by)}
            </dd>
          </div>
          <div>
            <dt>Keys valid for</dt>
            <dd>{formatWholeMinutes(rule.ttl_seconds)}</dd>
          </div>
          <div>
            <dt>Maximum budget of a run</dt>
            <dd>{rule.max_budget_usd === undefined ? "Not limited" : formatUsd(rule.max_budget_usd)}</dd>
          </div>
        </dl>
        <div className="row">
          <IconButton label={`Edit the rule for ${rule.subject_pattern}`} onClick={() => onEdit(rule)}>
            <Pencil size={15} aria-hidden />
          </IconButton>
          <IconButton label={`Delete the rule for ${rule.subject_pattern}`} onClick={() => onDelete(rule)}>
            <Trash2 size={15} aria-hidden />
          </IconButton>
        </div>
      </li>
    ))}
  </ul>
);
