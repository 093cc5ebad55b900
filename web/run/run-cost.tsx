import { useMemo } from "react";
import type { RunEvent, RunItem } from "../../clients/typescript/src/index.ts";
import { formatClock, formatCompact, formatCount, formatUsd, plural } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Fact } from "./fact.tsx";
import { describeCall, type ModelCall, toModelCalls, totalByModel } from "./model-calls.ts";

/** Calls beyond this number are only counted. */
const MAX_CALLS = 300;

/** What a run has cost, in total, by model and by call. */
export function RunCost({ run, events }: { readonly run: RunItem; readonly events: readonly RunEvent[] }) {
  const {
    inference_cost: model = 0,
    compute_cost: compute = 0,
    platform_cost: platform = 0,
    total_tokens: tokens = 0,
  } = run.request_usage ?? {};
  const calls = useMemo(() => toModelCalls(events), [events]);
  return (
    <>
      <dl className="facts">
        <Fact name="Tokens">{formatCount(tokens)}</Fact>
        <Fact name="Models">{formatUsd(model)}</Fact>
        {compute > 0 && <Fact name="Compute">{formatUsd(compute)}</Fact>}
        {platform > 0 && <Fact name="Platform">{formatUsd(platform)}</Fact>}
        <Fact name="Total">{formatUsd(model + compute + platform)}</Fact>
        {run.agent_config?.budget_usd !== undefined && (
          <Fact name="Budget">{formatUsd(run.agent_config.budget_usd)}</Fact>
        )}
        <Limits run={run} />
      </dl>
      {calls.length > 0 && <Calls calls={calls} />}
    </>
  );
}

/** The limits of the run besides its budget. */
function Limits({ run: { agent_config = {} } }: { readonly run: RunItem }) {
  const { timeout_minutes: minutes, max_steps: steps, max_total_tokens: tokens } = agent_config;
  return (
    <>
      {minutes !== undefined && <Fact name="Time limit">{plural(minutes, "minute")}</Fact>}
      {steps !== undefined && <Fact name="Limit of responses">{formatCount(steps)}</Fact>}
      {tokens !== undefined && <Fact name="Limit of tokens">{formatCount(tokens)}</Fact>}
    </>
  );
}

function Calls({ calls }: { readonly calls: readonly ModelCall[] }) {
  const most = Math.max(1, ...calls.map(weightOf));
  return (
    <>
      <ul className="model-totals">
        {totalByModel(calls).map(({ model, calls: count, tokens, cost }) => (
          <li key={model}>
            <code className="truncate">{revealHidden(model)}</code>
            <span className="number">{formatUsd(cost)}</span>
            <span className="faint">
              {plural(count, "call")}, {formatCompact(tokens)} tokens
            </span>
          </li>
        ))}
      </ul>
      <details className="folded">
        <summary>By model call</summary>
        <ol className="model-calls">
          {calls.slice(0, MAX_CALLS).map((call) => (
            <li key={call.sequence} title={describeCall(call)}>
              <time className="faint" dateTime={new Date(call.end).toISOString()}>
                {formatClock(new Date(call.end).toISOString())}
              </time>
              <span className="call-bar" style={{ width: `${(weightOf(call) / most) * 100}%` }} />
              <span className="number">
                {call.cost_usd === undefined ? `${formatCompact(weightOf(call))} tokens` : formatUsd(call.cost_usd)}
              </span>
              <span className="visually-hidden">{describeCall(call)}</span>
            </li>
          ))}
        </ol>
        {calls.length > MAX_CALLS && <p className="faint">and {plural(calls.length - MAX_CALLS, "more call")}</p>}
      </details>
    </>
  );
}

const weightOf = ({ input_tokens, output_tokens }: ModelCall): number => input_tokens + output_tokens;
