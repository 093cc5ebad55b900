import { useQuery } from "@tanstack/react-query";
import { GitCompare } from "lucide-react";
import { useState } from "react";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { client } from "../../api/client.ts";
import { plural } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { safeUrl } from "../../ui/safe-url.ts";
import { InlineError, LoadingRows } from "../../ui/status.tsx";
import { Diffs } from "./file-diff.tsx";

type Artifact = NonNullable<RunItem["artifacts"]>[number];
type File = Extract<Artifact, { artifact_type: "FILE" }>["data"];

/** Larger patches are not shown here; they are among the artifacts. */
const MAX_BYTES = 3 * 1024 * 1024;

/** What the run changed in its repositories. A patch is read when it is opened. */
export const RepositoryChanges = ({ run }: { readonly run: RunItem }) =>
  patchesOf(run).map((file) => <RepositoryChange key={file.artifact_uid} file={file} />);

const patchesOf = ({ artifacts = [] }: RunItem): File[] =>
  artifacts.flatMap((artifact) =>
    artifact.artifact_type === "FILE" && artifact.data.git !== undefined ? [artifact.data] : [],
  );

function RepositoryChange({ file }: { readonly file: File }) {
  const [isOpen, setOpen] = useState(false);
  const { git, size_bytes: size = 0 } = file;
  if (git === undefined) return null;
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
          <Patch uid={file.artifact_uid} />
        ))}
    </details>
  );
}

function Patch({ uid }: { readonly uid: string }) {
  const { data, error } = useQuery({
    queryKey: ["patch", uid],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { data: file } = await client.artifacts.retrieve(uid, { signal });
      const url = "download_url" in file ? safeUrl(file.download_url) : undefined;
      if (url === undefined) throw new Error("The patch has no address that a browser may open.");
      // The address carries its own authorization.
      const response = await fetch(url, {
        signal,
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
      });
      if (!response.ok) throw new Error(`The storage responded with ${response.status}.`);
      return response.text();
    },
  });
  if (error !== null) return <InlineError error={error} />;
  return data === undefined ? <LoadingRows rows={3} /> : <Diffs diff={data} />;
}
