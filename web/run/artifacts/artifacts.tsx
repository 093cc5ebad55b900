import { useMutation, useQuery } from "@tanstack/react-query";
import { Download, FileText, GitPullRequest, Image, Link2, ListChecks } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { client } from "../../api/client.ts";
import { describeError } from "../../api/problem.ts";
import { IconButton } from "../../ui/button.tsx";
import { firstText, formatBytes, isEnded } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { Markdown } from "../../ui/markdown/markdown.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { part } from "../../ui/part.tsx";
import { openDownload } from "../download.ts";
import { pullRequestName } from "../outcome/outcome.ts";
import { artifactName } from "./artifact-name.ts";
import { type PreviewKind, previewKind } from "./preview-kind.ts";

const Preview = part(async () => (await import("./preview.tsx")).Preview);

type Artifact = NonNullable<RunItem["artifacts"]>[number];

/** What a run has made. */
export function Artifacts({ run }: { readonly run: RunItem }) {
  const { artifacts = [] } = run;
  if (artifacts.length === 0)
    return <p className="faint">{isEnded(run.state) ? "The run has no artifacts." : "None yet."}</p>;
  return (
    <ul className="artifacts">
      {artifacts.map((artifact, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: artifacts are only appended.
        <li key={index}>
          <ArtifactRow artifact={artifact} />
        </li>
      ))}
    </ul>
  );
}

function ArtifactRow({ artifact }: { readonly artifact: Artifact }) {
  const name = artifactName({ ...artifact.data, artifact_type: artifact.artifact_type });
  switch (artifact.artifact_type) {
    case "PULL_REQUEST":
      return (
        <Row icon={<GitPullRequest size={15} aria-hidden />} note={revealHidden(artifact.data.branch)}>
          <OutsideLink href={artifact.data.url}>{pullRequestName(artifact.data.url)}</OutsideLink>
        </Row>
      );
    case "EXTERNAL_REFERENCE":
      return (
        <Row icon={<Link2 size={15} aria-hidden />} note={revealHidden(artifact.data.reference_type)}>
          <OutsideLink href={artifact.data.url}>
            {revealHidden(firstText([artifact.data.title]) ?? artifact.data.url)}
          </OutsideLink>
        </Row>
      );
    case "PLAN":
      return <Plan uid={artifact.data.artifact_uid ?? artifact.data.document_uid} title={name} />;
    case "SCREENSHOT":
      return <Screenshot uid={artifact.data.artifact_uid} mimeType={artifact.data.mime_type} description={name} />;
    case "FILE":
      return <File artifact={artifact} name={name} />;
    default:
      // A type that this version does not know.
      return null;
  }
}

const Row = ({
  icon,
  note,
  children,
}: {
  readonly icon: ReactNode;
  readonly note?: string;
  readonly children: ReactNode;
}) => (
  <div className="artifact">
    <span className="artifact-icon">{icon}</span>
    <span className="artifact-text">
      {children}
      {note !== undefined && note !== "" && <span className="faint"> {note}</span>}
    </span>
  </div>
);

function File({
  artifact,
  name,
}: {
  readonly artifact: Extract<Artifact, { artifact_type: "FILE" }>;
  readonly name: string;
}) {
  const { filename, size_bytes: size, description, artifact_uid: uid } = artifact.data;
  const note = [size === undefined ? "" : formatBytes(size), description ?? ""].filter((one) => one !== "").join(" · ");
  return (
    <Opening icon={<FileText size={15} aria-hidden />} uid={uid} name={name} kind={previewKind(artifact.data)}>
      <DownloadButton uid={uid} name={filename} />
      {note !== "" && <span className="faint"> {revealHidden(note)}</span>}
    </Opening>
  );
}

interface OpeningProps {
  readonly icon: ReactNode;
  readonly uid: string;
  readonly name: string;
  readonly kind: PreviewKind | undefined;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** A row whose name opens what the file contains, where it can be shown. */
function Opening({ icon, uid, name, kind, isOpen: isOpenAtFirst = false, children }: OpeningProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <Row icon={icon}>
      {kind === undefined ? (
        <span className="artifact-name">{revealHidden(name)}</span>
      ) : (
        <button type="button" className="artifact-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {revealHidden(name)}
        </button>
      )}
      {children}
      {isOpen && kind !== undefined && (
        <div className="preview">
          <Suspense>
            <Preview uid={uid} name={name} kind={kind} />
          </Suspense>
        </div>
      )}
    </Row>
  );
}

function DownloadButton({ uid, name }: { readonly uid: string; readonly name: string }) {
  const download = useMutation({
    mutationFn: async () => {
      const { data } = await client.artifacts.retrieve(uid);
      if ("download_url" in data) openDownload(data.download_url);
    },
  });
  return (
    <>
      <IconButton label={`Download ${name}`} onClick={() => download.mutate()}>
        <Download size={14} aria-hidden />
      </IconButton>
      {download.error !== null && (
        <span className="field-error" role="alert">
          {describeError(download.error).text}
        </span>
      )}
    </>
  );
}

function Plan({ uid, title }: { readonly uid: string; readonly title: string }) {
  const { data } = useQuery({
    queryKey: ["artifact", uid],
    queryFn: () => client.artifacts.retrieve(uid),
    staleTime: 60_000,
  });
  const content = data !== undefined && "content" in data.data ? data.data.content : undefined;
  return (
    <Row icon={<ListChecks size={15} aria-hidden />}>
      <details className="folded plan-details">
        <summary>{revealHidden(title)}</summary>
        {content !== undefined && <Markdown text={content} />}
      </details>
    </Row>
  );
}

function Screenshot({
  uid,
  mimeType,
  description,
}: {
  readonly uid: string;
  readonly mimeType: string;
  readonly description: string;
}) {
  const kind = previewKind({ filename: "", mime_type: mimeType });
  return (
    <Opening icon={<Image size={15} aria-hidden />} uid={uid} name={description} kind={kind} isOpen>
      <DownloadButton uid={uid} name={description} />
    </Opening>
  );
}
