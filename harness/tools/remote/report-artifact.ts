import { basename, extname } from "node:path";
import * as v from "valibot";
import type { ReportArtifactRequest } from "#shared/wire/executions/report-artifact.ts";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { uploadFile } from "../../control-plane/transfer.ts";
import { defineTool, type Tool, type ToolResult } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { guessMimeType, hashFile } from "../../reporting/artifact-collector.ts";
import { catchRefusal } from "./refused-call.ts";
import { type FileAccess, type WorkspaceFile, withWorkspaceFile } from "./workspace-file.ts";

export interface ReportOptions extends FileAccess {
  readonly plane: Pick<ControlPlane, "reportArtifact">;
  readonly redactor: Redactor;
}

const FILE_BYTES = 100 * 1024 * 1024;
const SCREENSHOT_BYTES = 20 * 1024 * 1024;

const Text = (most: number, what: string) =>
  v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(most), v.description(what)));

const Input = v.object({
  artifact_type: v.picklist(["FILE", "SCREENSHOT", "PULL_REQUEST", "EXTERNAL_REFERENCE"]),
  path: Text(1024, "FILE, SCREENSHOT: a file of the workspace."),
  title: Text(512, "FILE, EXTERNAL_REFERENCE: the displayed title."),
  description: Text(1024, "FILE, SCREENSHOT: a description."),
  url: Text(2048, "PULL_REQUEST, EXTERNAL_REFERENCE: an https URL."),
  branch: Text(256, "PULL_REQUEST: the branch to merge."),
  reference_type: Text(64, "EXTERNAL_REFERENCE: its kind, such as issue, document or deployment."),
});
type Input = v.InferOutput<typeof Input>;
type Kind = Input["artifact_type"];

/** The required members of each kind. */
const REQUIRED: Readonly<Record<Kind, readonly (keyof Input)[]>> = {
  FILE: ["path"],
  SCREENSHOT: ["path"],
  PULL_REQUEST: ["url", "branch"],
  EXTERNAL_REFERENCE: ["reference_type", "url"],
};

/** Creates the tool that reports an artifact, in addition to the files that are collected at the end of a turn. */
export function createReportArtifactTool(options: ReportOptions): Tool {
  const { plane, redactor } = options;
  return defineTool({
    name: "report_artifact",
    description:
      "Reports a result to the user of this run: a FILE of the workspace (100 MiB at most), a SCREENSHOT (an image file, 20 MiB at most), a " +
      "PULL_REQUEST that you have opened, or an EXTERNAL_REFERENCE to something that you have created elsewhere. Files in $RUNYARD_OUTPUT are " +
      "reported automatically at the end of your turn.",
    category: "documents",
    readsOnly: true,
    input: Input,
    async run(input, { signal }) {
      const missing = REQUIRED[input.artifact_type].filter((name) => input[name] === undefined);
      if (missing.length > 0) throw new Error(`${input.artifact_type} needs ${missing.join(" and ")}`);
      const redacted = redactor.json(input);
      return await catchRefusal(async () => {
        if (input.artifact_type === "FILE" || input.artifact_type === "SCREENSHOT") {
          const most = input.artifact_type === "FILE" ? FILE_BYTES : SCREENSHOT_BYTES;
          return withWorkspaceFile(input.path ?? "", options, most, signal, (file) =>
            reportFile(file, redacted, signal),
          );
        }
        return toResult((await plane.reportArtifact(toLinkReport(redacted))).artifact_uid);
      });
    },
  });

  async function reportFile(file: WorkspaceFile, input: Input, signal: AbortSignal): Promise<ToolResult> {
    const mimeType = guessMimeType(file.path);
    if (input.artifact_type === "SCREENSHOT" && !mimeType.startsWith("image/")) {
      throw new Error(`a screenshot must be an image, not ${extname(file.path) || "a file without an extension"}`);
    }
    const report = toFileReport(input, mimeType, redactor.text(file.path), file.sizeBytes, await hashFile(file.file));
    const { artifact_uid, upload } = await plane.reportArtifact(report);
    if (upload !== undefined) {
      await uploadFile(upload, file.file, mimeType, signal);
      await plane.reportArtifact(report);
    }
    return toResult(artifact_uid);
  }
}

const toResult = (artifact_uid: string): ToolResult => ({ output: { artifact_uid } });

function toFileReport(
  { artifact_type, title, description }: Input,
  mime_type: string,
  path: string,
  size_bytes: number,
  sha256: string,
): ReportArtifactRequest {
  const described = description === undefined ? {} : { description };
  const content = { mime_type, size_bytes, sha256, ...described };
  if (artifact_type === "SCREENSHOT") return { artifact_type, data: content };
  const named = title === undefined ? {} : { title };
  return { artifact_type: "FILE", data: { ...content, ...named, filepath: path, filename: basename(path) } };
}

function toLinkReport({
  artifact_type,
  url = "",
  branch = "",
  reference_type = "",
  title,
}: Input): ReportArtifactRequest {
  if (artifact_type === "PULL_REQUEST") return { artifact_type, data: { url, branch } };
  const data = { reference_type, url, ...(title === undefined ? {} : { title }) };
  return { artifact_type: "EXTERNAL_REFERENCE", data };
}
