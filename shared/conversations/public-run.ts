import { createRunArtifactDownload } from "#shared/artifacts/artifacts.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { PageQuery } from "#shared/pagination/page.ts";
import { toRunItem } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { ArtifactItem, DownloadUrl } from "#shared/wire/artifact.ts";
import type { PublicArtifact, PublicRun } from "#shared/wire/web/public-run.ts";
import { readSteps } from "./conversation.ts";
import { toConversationPage } from "./conversation-page.ts";
import { findPublicRun } from "./shared-sessions.ts";

/** Reads what everybody may see of a publicly shared run. A run that is not public counts as missing. */
export async function readPublicRun(
  sessionId: string,
  query: PageQuery,
  ports: RunPorts & { readonly cursors: Cursors },
): Promise<PublicRun> {
  const { head, body } = await findPublicRun(sessionId, ports);
  const stored = head.artifacts > 0 ? await ports.runs.artifacts(sessionId) : [];
  const {
    title,
    state,
    created_at,
    run_time,
    artifacts = [],
  } = toRunItem(head, body, stored, {
    webUrl: undefined,
    now: ports.now(),
  });
  const conversation = { conversationId: body.conversation_id, runs: [sessionId], steps: [] };
  const page = async () =>
    toConversationPage(
      ["run", sessionId],
      { ...conversation, steps: await readSteps(head, body, ports) },
      query,
      ports.cursors,
    );
  return {
    title,
    state,
    created_at,
    ...(run_time === undefined ? {} : { run_time }),
    ...(head.external === true ? {} : { conversation: await page() }),
    artifacts: artifacts.map(toPublicArtifact),
  };
}

/** Creates a URL of the content of an artifact, if its run is public. */
export async function createPublicDownload(
  sessionId: string,
  artifactUid: string,
  ports: RunPorts,
): Promise<DownloadUrl> {
  const { head } = await findPublicRun(sessionId, ports);
  return createRunArtifactDownload(head.run_id, artifactUid, ports);
}

function toPublicArtifact({ artifact_type, created_at, data }: ArtifactItem): PublicArtifact {
  return {
    artifact_type,
    created_at,
    ...("artifact_uid" in data && data.artifact_uid !== undefined ? { artifact_uid: data.artifact_uid } : {}),
    ...("title" in data && data.title !== undefined ? { title: data.title } : {}),
    ...("description" in data && data.description !== undefined ? { description: data.description } : {}),
    ...("filename" in data ? { filename: data.filename } : {}),
    ...("mime_type" in data ? { mime_type: data.mime_type } : {}),
    ...("size_bytes" in data && data.size_bytes !== undefined ? { size_bytes: data.size_bytes } : {}),
  };
}
