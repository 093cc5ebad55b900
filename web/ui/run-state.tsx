import { Ban, CircleCheck, CircleDashed, CircleHelp, CircleX, LoaderCircle, TriangleAlert } from "lucide-react";
import type { RunItem, RunState } from "../../clients/typescript/src/index.ts";
import { toWords } from "./format.ts";

interface Look {
  readonly label: string;
  readonly tone: string;
  readonly Icon: typeof Ban;
}

const LOOKS: Readonly<Record<RunState, Look>> = {
  QUEUED: { label: "Queued", tone: "waiting", Icon: CircleDashed },
  PENDING: { label: "Starting", tone: "waiting", Icon: CircleDashed },
  CLAIMED: { label: "Claimed", tone: "waiting", Icon: CircleDashed },
  INPROGRESS: { label: "In progress", tone: "active", Icon: LoaderCircle },
  SUCCEEDED: { label: "Succeeded", tone: "good", Icon: CircleCheck },
  FAILED: { label: "Failed", tone: "bad", Icon: CircleX },
  ERROR: { label: "Error", tone: "error", Icon: TriangleAlert },
  BLOCKED: { label: "Needs an answer", tone: "asking", Icon: CircleHelp },
  CANCELLED: { label: "Cancelled", tone: "off", Icon: Ban },
};

export const stateLabel = (state: RunState): string => LOOKS[state].label;
export const stateTone = (state: RunState): string => LOOKS[state].tone;

const SOURCES: Readonly<Record<string, string>> = {
  API: "API",
  CLI: "CLI",
  WEB_APP: "Web app",
  SCHEDULED_AGENT: "Schedule",
  GITHUB_ACTION: "GitHub Action",
  ORCHESTRATION: "Parent run",
};

/** Where a run comes from. Other services may have other sources. */
export const sourceLabel = (source: RunItem["source"] = "API"): string =>
  SOURCES[source] ?? toWords(source.toLowerCase());

/** The state of a run as an icon, with its name for screen readers. */
export function StateIcon({ state, size = 18 }: { readonly state: RunState; readonly size?: number }) {
  const { label, tone, Icon } = LOOKS[state];
  return (
    <span className={`state-icon tone-${tone}`} role="img" aria-label={label} title={label}>
      <Icon size={size} aria-hidden />
    </span>
  );
}

export function StateBadge({ state }: { readonly state: RunState }) {
  const { label, tone, Icon } = LOOKS[state];
  return (
    <span className={`badge tone-${tone}`}>
      <Icon size={14} aria-hidden />
      {label}
    </span>
  );
}
