import "../styles/strip.css";
import { Link } from "@tanstack/react-router";

interface StripItem {
  readonly id: string;
  /** Read by screen readers and shown on hover. */
  readonly text: string;
  readonly tone: string;
  /** The run that the item leads to. */
  readonly runId: string | undefined;
}

/** A row of bars, one for each item, oldest first. `items` are newest first, as lists of the API are. */
export const Strip = ({ label, items }: { readonly label: string; readonly items: readonly StripItem[] }) => (
  <ol className="ticks" aria-label={`${label}, oldest first`}>
    {items.toReversed().map(({ id, text, tone, runId }) => {
      const look = { className: `tick tone-${tone}`, "aria-label": text, title: text };
      return (
        <li key={id}>
          {runId === undefined ? (
            <span role="img" {...look} />
          ) : (
            <Link to="/runs/$runId" params={{ runId }} {...look} />
          )}
        </li>
      );
    })}
  </ol>
);
