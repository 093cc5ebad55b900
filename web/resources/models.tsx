import { useQuery } from "@tanstack/react-query";
import type { Model } from "../../clients/typescript/src/index.ts";
import { modelsQuery } from "../api/queries.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Loaded } from "../ui/status.tsx";

const PROVIDERS: Readonly<Record<Model["provider"], string>> = {
  OPENAI: "OpenAI",
  ANTHROPIC: "Anthropic",
  GOOGLE: "Google",
  AMAZON: "Amazon Bedrock",
  LOCAL: "Built in",
  UNKNOWN: "Other provider",
};

const REASONS: Readonly<Record<NonNullable<Model["disable_reason"]>, string>> = {
  ADMIN_DISABLED: "Disabled in this deployment",
  PROVIDER_OUTAGE: "Provider not available",
  OUT_OF_REQUESTS: "Out of requests",
  REQUIRES_UPGRADE: "Requires an upgrade",
};

export function Models() {
  const query = useQuery(modelsQuery);
  return (
    <section className="card" aria-label="Models">
      <div className="card-head">
        <h2>Models</h2>
      </div>
      <Loaded query={query} rows={3}>
        {({ models, default_model_id }) => (
          <ul className="item-list">
            {models.map((model) => (
              <ModelRow key={model.id} model={model} isDefault={model.id === default_model_id} />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function ModelRow({ model, isDefault }: { readonly model: Model; readonly isDefault: boolean }) {
  const { id, display_name, provider, description, cost, vision_supported, disable_reason: reason } = model;
  return (
    <li className="item">
      <div className="item-main">
        <span className="item-title">{revealHidden(display_name)}</span>
        <p className="item-facts">
          <code>{revealHidden(id)}</code>
          <span>{PROVIDERS[provider]}</span>
          {vision_supported && <span>Reads images</span>}
        </p>
        {description !== undefined && <p className="item-facts">{revealHidden(description)}</p>}
      </div>
      <div className="item-side">
        {isDefault && <span className="badge tone-good">Default</span>}
        {reason !== undefined && <span className="badge tone-bad">{REASONS[reason]}</span>}
        <span className="number">{formatPrice(cost)}</span>
      </div>
    </li>
  );
}

function formatPrice(cost: Model["cost"]): string {
  if (cost === undefined) return "Price not known";
  const { input_per_million_usd: input, output_per_million_usd: output } = cost;
  if (input === 0 && output === 0) return "Free";
  return `$${input} in, $${output} out per million tokens`;
}
