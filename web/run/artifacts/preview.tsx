import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { client } from "../../api/client.ts";
import { Code } from "../../ui/code.tsx";
import { plural } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { Markdown } from "../../ui/markdown/markdown.tsx";
import { safeUrl } from "../../ui/safe-url.ts";
import { InlineError, LoadingRows } from "../../ui/status.tsx";
import { formatJson, type PreviewKind, parseRows } from "./preview-kind.ts";
import { readArtifact } from "./read-artifact.ts";

interface PreviewProps {
  readonly uid: string;
  readonly name: string;
  readonly kind: PreviewKind;
}

/**
 * The content of a file, which is the attacker's: text becomes elements of the app, pictures are shown by types that contain no
 * scripts, and a PDF is opened by the browser's own viewer, as a document of its own.
 */
export const Preview = ({ uid, name, kind }: PreviewProps) =>
  kind === "image" ? (
    <Picture uid={uid} name={name} />
  ) : kind === "pdf" ? (
    <Pdf uid={uid} name={name} />
  ) : (
    <Text uid={uid} name={name} kind={kind} />
  );

function Picture({ uid, name }: { readonly uid: string; readonly name: string }) {
  const { data, error } = useQuery({
    queryKey: ["artifact", uid],
    queryFn: () => client.artifacts.retrieve(uid),
    staleTime: 4 * 60_000,
  });
  if (error !== null) return <InlineError error={error} />;
  const url = data !== undefined && "download_url" in data.data ? safeUrl(data.data.download_url) : undefined;
  return url === undefined ? null : (
    <img className="screenshot" src={url} alt={`Content of ${revealHidden(name)}`} loading="lazy" />
  );
}

/** The type that the browser's viewer gets, whatever type the file claims. */
const PDF = "application/pdf";

function Pdf({ uid, name }: { readonly uid: string; readonly name: string }) {
  const [address, setAddress] = useState<string>();
  const { data, error } = useQuery({
    queryKey: ["file", uid],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => new Blob([await (await readArtifact(uid, signal)).arrayBuffer()], { type: PDF }),
  });
  useEffect(() => {
    if (data === undefined) return;
    const url = URL.createObjectURL(data);
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [data]);
  if (error !== null) return <InlineError error={error} />;
  return address === undefined ? (
    <LoadingRows rows={1} />
  ) : (
    <a href={address} target="_blank" rel="noopener noreferrer">
      Open {revealHidden(name)} in a new tab
    </a>
  );
}

function Text({ uid, name, kind }: PreviewProps) {
  const { data, error } = useQuery({
    queryKey: ["text", uid],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await readArtifact(uid, signal)).text(),
  });
  if (error !== null) return <InlineError error={error} />;
  if (data === undefined) return <LoadingRows rows={3} />;
  if (kind === "markdown")
    return (
      <>
        <h3 className="visually-hidden">{revealHidden(name)}</h3>
        <Markdown text={data} />
      </>
    );
  if (kind === "csv") return <Rows text={data} />;
  return (
    <Code
      text={revealHidden(kind === "json" ? formatJson(data) : data)}
      language={kind === "json" ? "json" : undefined}
    />
  );
}

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;
const MAX_CELL = 500;

/** A table of the first rows. */
function Rows({ text }: { readonly text: string }) {
  const [head = [], ...rows] = useMemo(() => parseRows(text, MAX_ROWS + 1), [text]);
  const toCells = (row: readonly string[]) =>
    row.slice(0, MAX_COLUMNS).map((cell) => revealHidden(cell.slice(0, MAX_CELL)));
  return (
    <>
      <div
        className="table-scroll preview-table"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        <table className="table">
          <thead>
            <tr>
              {toCells(head).map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity.
                <th key={index}>{cell}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity.
              <tr key={index}>
                {toCells(row).map((cell, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity.
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length >= MAX_ROWS && <p className="faint">The first {plural(MAX_ROWS, "row")}. Download it for all.</p>}
    </>
  );
}
