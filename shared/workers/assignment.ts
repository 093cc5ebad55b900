import { createHash } from "node:crypto";
import { takeCharacters } from "#shared/characters.ts";
import { readPrompt } from "#shared/conversations/conversation.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { MAX_FRAME_BYTES, type TaskAssignment } from "#shared/wire/worker.ts";

/** Bytes of a frame that are left free, for what a gateway may add. */
const RESERVED_BYTES = 1024;

interface Offer {
  readonly executionId: string;
  /** The key of the execution. */
  readonly key: string;
}

/**
 * Builds the frame that offers a run to a worker. What does not fit is left out or cut: the configuration first, then the prompt. The
 * execution reads both whole by resolve-prompt.
 */
export async function toAssignmentFrame(head: RunHead, offer: Offer, ports: RunPorts): Promise<string> {
  const body = await ports.runs.body(head.run_id);
  let prompt = await readPrompt(body, ports);
  let config: Record<string, unknown> | undefined = { ...shownConfig(body.config) };
  for (;;) {
    const frame = JSON.stringify(toAssignment({ head, body, prompt, config }, offer, ports));
    const excess = Buffer.byteLength(frame) - (MAX_FRAME_BYTES - RESERVED_BYTES);
    if (excess <= 0) return frame;
    if (config !== undefined) config = undefined;
    else prompt = takeCharacters(prompt, Math.floor([...prompt].length / 2));
  }
}

interface Task {
  readonly head: RunHead;
  readonly body: RunBody;
  readonly prompt: string;
  readonly config: Record<string, unknown> | undefined;
}

const toAssignment = (
  { head, body, prompt, config }: Task,
  { executionId, key }: Offer,
  { modelUrl }: RunPorts,
): TaskAssignment => ({
  type: "task_assignment",
  data: {
    task_id: head.run_id,
    execution_id: executionId,
    task: {
      id: head.run_id,
      title: body.title,
      task_definition: { prompt },
      created_at: toTimestamp(head.created_at),
      updated_at: toTimestamp(head.updated_at),
      owner: { Type: "TEAM", Id: toOwnerNumber(parseOwner(head).uid) },
      ...(config === undefined ? {} : { agent_config_snapshot: config }),
      agent_conversation_id: body.conversation_id,
    },
    ...(body.docker_image === undefined ? {} : { docker_image: body.docker_image }),
    ...(body.network === undefined || body.network.mode === "open" ? {} : { network: body.network.mode }),
    env_vars: {
      WARP_API_KEY: key,
      RUNYARD_EXECUTION_ID: executionId,
      ...(modelUrl === undefined ? {} : { RUNYARD_MODEL_URL: modelUrl }),
    },
  },
});

/** A number for a team, as the protocol has it: 48 bits of a digest, which a JSON number holds exactly. */
const toOwnerNumber = (team: string): number => createHash("sha256").update(team).digest().readUIntBE(0, 6);
