/** How a file is shown. What has no kind is only downloaded. */
export type PreviewKind = "image" | "pdf" | "csv" | "json" | "markdown" | "text";

/** Types that a browser shows as a picture and nothing else. SVG may contain scripts. */
const PICTURES = /^image\/(png|jpeg|gif|webp)$/;
/** Larger files are only downloaded. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;
const MAX_BYTES = 25 * 1024 * 1024;

const BY_EXTENSION: Readonly<Record<string, PreviewKind>> = {
  csv: "csv",
  tsv: "csv",
  json: "json",
  md: "markdown",
  markdown: "markdown",
  pdf: "pdf",
  txt: "text",
  log: "text",
  xml: "text",
  yaml: "text",
  yml: "text",
  diff: "text",
  patch: "text",
};
const BY_TYPE: Readonly<Record<string, PreviewKind>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/json": "json",
  "text/markdown": "markdown",
};

interface FileFacts {
  readonly filename: string;
  readonly mime_type: string;
  readonly size_bytes?: number | undefined;
}

/** How a file is shown, by its type and its name. */
export function previewKind({ filename, mime_type, size_bytes: size = 0 }: FileFacts): PreviewKind | undefined {
  const type = (mime_type.split(";", 1)[0] ?? "").trim().toLowerCase();
  const extension = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? "";
  const kind = PICTURES.test(type)
    ? "image"
    : (BY_TYPE[type] ?? BY_EXTENSION[extension] ?? (type.startsWith("text/") ? "text" : undefined));
  const limit = kind === "image" || kind === "pdf" ? MAX_BYTES : MAX_TEXT_BYTES;
  return size > limit ? undefined : kind;
}

/** Splits comma- or tab-separated values (RFC 4180) into rows, up to `limit`. */
export function parseRows(text: string, limit: number): string[][] {
  const separator = (text.split("\n", 1)[0] ?? "").includes("\t") ? "\t" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endRow = () => {
    row.push(cell);
    rows.push(row);
    row = [];
    cell = "";
  };
  for (let index = 0; index < text.length && rows.length < limit; index++) {
    const character = text.charAt(index);
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(index + 1) === '"') cell += text.charAt(index++);
      else isQuoted = false;
    } else if (character === '"' && cell === "") isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") endRow();
    else if (character !== "\r") cell += character;
  }
  if ((cell !== "" || row.length > 0) && rows.length < limit) endRow();
  return rows;
}

/** JSON with indentation; a text that is none stays as it is. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
