import { GitPullRequest } from "lucide-react";
import type { PullRequest } from "../../runs/run-outcome.ts";
import { toWords } from "../../ui/format.ts";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { pullRequestName } from "./outcome.ts";

/** Leads to a pull request, and says its status. */
export const PullRequestLink = ({ request: { url, status } }: { readonly request: PullRequest }) => (
  <>
    <GitPullRequest size={15} aria-hidden />
    <span>
      <OutsideLink href={url}>{pullRequestName(url)}</OutsideLink>
      {status !== "unknown" && <span className="chip">{toWords(status)}</span>}
    </span>
  </>
);
