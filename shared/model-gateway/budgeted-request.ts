import type { Provider } from "#shared/models/catalogue.ts";
import type { Dialect, ModelRequest } from "./dialect.ts";
import { boundInput } from "./input-bound.ts";
import { isPricedBeta } from "./messages-filter.ts";
import { newNotes, noteDropped } from "./request-filter.ts";
import type { Usage } from "./usage.ts";

/** A request whose maximum cost is known. */
export interface BudgetedRequest {
  readonly request: ModelRequest;
  readonly headers: Readonly<Record<string, string>>;
  /** The maximum input that the provider can bill. */
  readonly input: Usage;
  /** What was dropped, because its price is unknown. */
  readonly dropped: readonly string[];
}

/** Reduces a request to the parts with a known price. Throws if it needs a part without one. */
export function limitToKnownPrices(
  { model, ...members }: ModelRequest,
  headers: Readonly<Record<string, string>>,
  dialect: Dialect,
  provider: Provider,
): BudgetedRequest {
  const notes = newNotes();
  const filtered: Record<string, unknown> = Object(dialect.filter(members, "", notes));
  if (Array.isArray(filtered["tools"]) && filtered["tools"].length === 0) {
    delete filtered["tools"];
    delete filtered["tool_choice"];
  }
  const request = { ...filtered, model };
  const betas = (headers["anthropic-beta"] ?? "").split(",").map((name) => name.trim());
  const pricedBetas = betas.filter((name) => isPricedBeta(name));
  for (const name of betas) if (name !== "" && !isPricedBeta(name)) noteDropped(notes, `anthropic-beta(${name})`);
  if (headers["openai-beta"] !== undefined) noteDropped(notes, "openai-beta");
  const { "anthropic-beta": _, "openai-beta": __, ...others } = headers;
  return {
    request,
    headers: pricedBetas.length === 0 ? others : { ...others, "anthropic-beta": pricedBetas.join(",") },
    input: boundInput(request, provider, notes),
    dropped: [...notes.dropped],
  };
}

/** Maximum characters of the header with the dropped members. */
const DROPPED_LENGTH = 1_000;

/** Creates the response header with the dropped members of the request. */
export const droppedHeader = (dropped: readonly string[]): Record<string, string> =>
  dropped.length === 0
    ? {}
    : {
        "runyard-dropped": dropped
          .join(", ")
          .replace(/[^\x20-\x7e]/g, "?")
          .slice(0, DROPPED_LENGTH),
      };
