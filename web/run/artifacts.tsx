import { useMutation, useQuery } from "@tanstack/react-query";
import { Download, FileText, GitPullRequest, Image, Link2, ListChecks } from "lucide-react";
import type { ReactNode } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { describeError } from "../api/problem.ts";
import { IconButton } from "../ui/button.tsx";
import { firstText, formatBytes, isEnded } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Markdown } from "../ui/markdown.tsx";
import { OutsideLink } from "../ui/outside-link.tsx";
import { safeUrl } from "../ui/safe-url.ts";
import { artifactName } from "./artifact-name.ts";
import { openDownload } from "./download.ts";

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
          <OutsideLink href={artifact.data.url}>Pull request</OutsideLink>
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
    <Row icon={<FileText size={15} aria-hidden />} note={revealHidden(note)}>
      <span className="artifact-name">{revealHidden(name)}</span>
      <DownloadButton uid={uid} name={filename} />
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
      <IconButton label={`Download ${revealHidden(name)}`} onClick={() => download.mutate()}>
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

/** Types that a browser shows as a picture and nothing else. */
const PICTURES = /^image\/(png|jpeg|gif|webp)$/;

function Screenshot({
  uid,
  mimeType,
  description,
}: {
  readonly uid: string;
  readonly mimeType: string;
  readonly description: string;
}) {
  const isPicture = PICTURES.test(mimeType);
  const { data } = useQuery({
    queryKey: ["artifact", uid],
    queryFn: () => client.artifacts.retrieve(uid),
    enabled: isPicture,
    staleTime: 4 * 60_000,
  });
  const url = data !== undefined && "download_url" in data.data ? safeUrl(data.data.download_url) : undefined;
  return (
    <Row icon={<Image size={15} aria-hidden />}>
      <span className="artifact-name">{revealHidden(description)}</span>
      <DownloadButton uid={uid} name={description} />
      {url !== undefined && <img className="screenshot" src={url} alt={revealHidden(description)} loading="lazy" />}
    </Row>
  );
}
