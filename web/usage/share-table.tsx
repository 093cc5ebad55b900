import { Link } from "@tanstack/react-router";
import type { UsageBucket } from "../api/usage.ts";
import type { RunSearch } from "../runs/run-search.ts";
import { formatCompact, formatCount, formatDuration, formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";

interface ShareTableProps {
  readonly buckets: readonly UsageBucket[];
  readonly names: ReadonlyMap<string, string>;
  /** The filters that select the runs of a bucket, if there are any. */
  readonly toSearch: (key: string | null) => RunSearch | undefined;
}

/** Usage by what the buckets stand for, the costliest first. */
export function ShareTable({ buckets, names, toSearch }: ShareTableProps) {
  const sorted = buckets.toSorted((a, b) => b.cost_usd - a.cost_usd || b.runs - a.runs);
  // Models of this machine cost nothing; then the runs are compared.
  const isFree = sorted.every(({ cost_usd }) => cost_usd === 0);
  const weight = ({ cost_usd, runs }: UsageBucket) => (isFree ? runs : cost_usd);
  const most = Math.max(1e-9, ...sorted.map(weight));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="table-scroll" tabIndex={0} aria-label="Table of shares">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Cost</th>
            <th scope="col" className="cell-end">
              Runs
            </th>
            <th scope="col" className="cell-end">
              Failed
            </th>
            <th scope="col" className="cell-end">
              Tokens
            </th>
            <th scope="col" className="cell-end">
              Run time
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((bucket) => (
            <tr key={bucket.key ?? ""}>
              <td className="share-name">
                <BucketName name={bucket.key && (names.get(bucket.key) ?? bucket.key)} search={toSearch(bucket.key)} />
              </td>
              <td>
                <span className="share">
                  <span className="share-track">
                    {weight(bucket) > 0 && (
                      <span className="share-bar" style={{ width: `${(weight(bucket) / most) * 100}%` }} />
                    )}
                  </span>
                  <span className="number">{formatUsd(bucket.cost_usd)}</span>
                </span>
              </td>
              <td className="cell-end number">{formatCount(bucket.runs)}</td>
              <td className="cell-end number">{formatCount(bucket.failed)}</td>
              <td className="cell-end number">{formatCompact(bucket.total_tokens)}</td>
              <td className="cell-end number">{formatDuration(bucket.run_seconds * 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The name of a bucket, which leads to its runs. */
function BucketName({ name, search }: { readonly name: string | null; readonly search: RunSearch | undefined }) {
  const text = name === null ? "None" : revealHidden(name);
  if (search === undefined) return <span className="faint">{text}</span>;
  return (
    <Link to="/runs" search={search} className="share-link">
      {text}
    </Link>
  );
}
