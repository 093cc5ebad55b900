import { useMutation, useQuery } from "@tanstack/react-query";
import { GitCompare, GitPullRequest } from "lucide-react";
import { useEffect, useState } from "react";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { listPatches, listPullRequests, type Patch } from "../../runs/run-outcome.ts";
import { Button } from "../../ui/button.tsx";
import { isEnded, plural } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { InlineError, LoadingRows } from "../../ui/status.tsx";
import { readArtifact } from "../artifacts/read-artifact.ts";
import { PullRequestLink } from "../outcome/pull-request-link.tsx";
import { sendFollowup } from "../send-followup.ts";
import { Review } from "./review.tsx";

/** Larger patches are not shown here; they are among the artifacts. */
const MAX_BYTES = 3 * 1024 * 1024;

interface ChangesProps {
  readonly run: RunItem;
  readonly onChanged: () => void;
}

/** What the run changed in its repositories. A patch is read when it is opened. */
export const RepositoryChanges = ({ run, onChanged }: ChangesProps) => (
  <section id="changes" className="changes" aria-label="Changes">
    <div className="changes-head">
      <h2>Changes</h2>
      <PullRequests run={run} onChanged={onChanged} />
    </div>
    {listPatches(run).map((file) => (
      <RepositoryChange key={file.git.path} run={run} file={file} onChanged={onChanged} />
    ))}
  </section>
);

const REQUEST = "Commit your changes to a branch of their own, push it, and open a pull request for them.";

/** Links to the pull requests of the run, or a button that asks its agent to create one. */
function PullRequests({ run, onChanged }: ChangesProps) {
  const requests = listPullRequests(run);
  return requests.length === 0 ? (
    <NewPullRequest run={run} onChanged={onChanged} />
  ) : (
    requests.map((request) => (
      <span key={request.url} className="outcome-fact">
        <PullRequestLink request={request} />
      </span>
    ))
  );
}

/** Asks the agent for a pull request, and shows its progress. The link replaces it once the agent has reported one. */
function NewPullRequest({ run, onChanged }: ChangesProps) {
  const [turn, setTurn] = useState<"asked" | "working">();
  const ask = useMutation({
    mutationFn: () => sendFollowup(run, REQUEST),
    onSuccess: () => {
      setTurn("asked");
      onChanged();
    },
  });
  useEffect(() => {
    // A run that had ended is active again only when it is read after the follow-up.
    if (turn === "asked" && !isEnded(run.state)) setTurn("working");
  }, [turn, run.state]);
  const isTurnOver = turn === "working" && isEnded(run.state);
  const isAsking = ask.isPending || (turn !== undefined && !isTurnOver);
  return (
    <>
      <Button
        small
        busy={isAsking}
        title={REQUEST}
        icon={<GitPullRequest size={14} aria-hidden />}
        onClick={() => ask.mutate()}
      >
        {turn === undefined ? "Ask the agent for a pull request" : isAsking ? "The agent creates it" : "Ask again"}
      </Button>
      <span role="status" className="faint">
        {isTurnOver && !ask.isPending && "The agent has reported no pull request; its response says why."}
      </span>
      <InlineError error={ask.error} />
    </>
  );
}

function RepositoryChange({ run, file, onChanged }: ChangesProps & { readonly file: Patch }) {
  const [isOpen, setOpen] = useState(false);
  const { git, size_bytes: size = 0 } = file;
  return (
    <details className="card repository" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <GitCompare size={15} aria-hidden />
        <code className="truncate">{revealHidden(git.path)}</code>
        <span className="faint">
          {plural(git.files_changed, "file")}
          {git.branch === undefined ? "" : `, ${revealHidden(git.branch)}`}
        </span>
        <span className="diff-count">
          <span className="diff-added">+{git.insertions}</span>
          <span className="diff-removed">−{git.deletions}</span>
        </span>
      </summary>
      {isOpen &&
        (size > MAX_BYTES ? (
          <p className="faint">Download the patch from the artifacts.</p>
        ) : (
          <PatchReview run={run} uid={file.artifact_uid} repository={git.path} onSent={onChanged} />
        ))}
    </details>
  );
}

interface PatchReviewProps {
  readonly run: RunItem;
  readonly uid: string;
  readonly repository: string;
  readonly onSent: () => void;
}

function PatchReview({ run, uid, repository, onSent }: PatchReviewProps) {
  const { data, error } = useQuery({
    queryKey: ["patch", uid],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await readArtifact(uid, signal)).text(),
  });
  if (error !== null) return <InlineError error={error} />;
  return data === undefined ? (
    <LoadingRows rows={3} />
  ) : (
    <Review run={run} repository={repository} patch={data} onSent={onSent} />
  );
}
