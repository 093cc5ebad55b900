import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { fieldError } from "../api/problem.ts";
import { identitiesQuery, skillsQuery } from "../api/queries.ts";
import { useMe } from "../api/session.ts";
import { EnvironmentField, ModelField } from "../ui/choice-fields.tsx";
import { CheckField, SelectField, TextField } from "../ui/field.tsx";
import { checkTexts, type DraftProps, parseMode } from "./draft.ts";
import { MoreOptions } from "./more-options.tsx";

/** Where and as whom a run is executed, and with what. */
export const RunOptions = (props: DraftProps) => (
  <section className="card card-body stack">
    <div className="field-row">
      <ModelField
        value={props.draft.model}
        error={fieldError(props.error, "model_id")}
        onChange={(model) => props.onChange({ model })}
      />
      <EnvironmentField
        value={props.draft.environment}
        error={fieldError(props.error, "environment_id")}
        onChange={(environment) => props.onChange({ environment })}
      />
    </div>
    <div className="field-row">
      <IdentityField {...props} />
      <ModeField {...props} />
    </div>
    <div className="field-row">
      <SkillField {...props} />
      <BudgetField {...props} />
    </div>
    <RepositoryFields {...props} />
    <Visibility {...props} />
    <MoreOptions {...props} />
  </section>
);

function IdentityField({ draft, onChange, error }: DraftProps) {
  const identities = useQuery(identitiesQuery).data ?? [];
  return (
    <SelectField
      label="Run as"
      value={draft.identity}
      error={fieldError(error, "agent_identity_uid", "agent_uid")}
      onChange={(event) => onChange({ identity: event.target.value })}
    >
      <option value="">Me</option>
      {identities.map(({ uid, name, available }) => (
        <option key={uid} value={uid} disabled={!available}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

const ModeField = ({ draft, onChange }: DraftProps) => (
  <SelectField label="Mode" value={draft.mode} onChange={(event) => onChange({ mode: parseMode(event.target.value) })}>
    <option value="normal">Execute the task</option>
    <option value="plan">Only write a plan</option>
    <option value="orchestrate">Delegate to child runs</option>
  </SelectField>
);

function SkillField({ draft, onChange, error }: DraftProps) {
  const skills = useQuery(skillsQuery).data?.flatMap(({ variants }) => variants) ?? [];
  const list = useId();
  return (
    <div>
      <TextField
        label="Skill"
        optional
        list={list}
        placeholder="owner/repo:skill"
        value={draft.skill}
        error={fieldError(error, "skill_spec", "skill")}
        onChange={(event) => onChange({ skill: event.target.value })}
      />
      <datalist id={list}>
        {skills.map(({ id, description }) => (
          <option key={id} value={id}>
            {description}
          </option>
        ))}
      </datalist>
    </div>
  );
}

const BudgetField = ({ draft, onChange, error }: DraftProps) => (
  <TextField
    label="Budget in US dollars"
    optional
    inputMode="decimal"
    placeholder="No limit"
    value={draft.budget}
    error={checkTexts(draft).budget ?? fieldError(error, "budget_usd")}
    onChange={(event) => onChange({ budget: event.target.value.replace(",", ".") })}
  />
);

const RepositoryFields = ({ draft, onChange, error }: DraftProps) => (
  <div className="field-row">
    <TextField
      label="Repository"
      optional
      inputMode="url"
      placeholder="https://github.com/owner/repo"
      value={draft.repository}
      error={fieldError(error, "url", "repositories")}
      onChange={(event) => onChange({ repository: event.target.value })}
    />
    <TextField
      label="Branch, tag or commit"
      optional
      value={draft.ref}
      disabled={draft.repository.trim() === ""}
      error={fieldError(error, "ref")}
      onChange={(event) => onChange({ ref: event.target.value })}
    />
  </div>
);

function Visibility({ draft, onChange }: DraftProps) {
  const { teams } = useMe();
  return (
    <>
      {teams.length > 0 && (
        <CheckField
          label="Only I can see it"
          hint="Otherwise your team can see, continue and cancel it."
          checked={draft.isPersonal}
          onChange={(event) => onChange({ isPersonal: event.target.checked })}
        />
      )}
      <CheckField
        label="Anyone with the link can read it"
        hint="The public view shows the conversation, without names and configuration."
        checked={draft.isPublic}
        onChange={(event) => onChange({ isPublic: event.target.checked })}
      />
    </>
  );
}
