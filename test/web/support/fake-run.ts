import * as v from "valibot";
import type { ArtifactItem } from "#shared/wire/artifact.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { RunEvent, type RunEvents } from "#shared/wire/event.ts";
import { RunItem } from "#shared/wire/run.ts";

const START = Date.parse("2026-05-18T19:00:00.000Z");

/** A run that a test plays: what it says comes to the page as the service would send it. */
export class FakeRun {
  item: RunItem;
  ended = false;
  #events: RunEvent[] = [];
  #waiting: (() => void)[] = [];

  constructor(changes: Partial<RunItem> = {}) {
    const number = changes.run_id ?? "0199a0c4-0000-7000-8000-000000000001";
    this.item = v.parse(RunItem, {
      run_id: number,
      task_id: number,
      title: "Inspect the repository",
      state: "QUEUED",
      prompt: "Look around.",
      created_at: new Date(START).toISOString(),
      updated_at: new Date(START).toISOString(),
      started_at: null,
      agent_config: { model_id: "local/runbook" },
      creator: { type: "user", uid: "u-1", display_name: "Ada" },
      artifacts: [],
      ...changes,
    });
    this.#store("run_created", { state: "QUEUED" });
  }

  /** Puts an event into the run's sequence, and what it changes into the run. */
  say(type: RunEvent["type"], data: RunEvent["data"] = {}, changes: Partial<RunItem> = {}): void {
    this.item = v.parse(RunItem, { ...this.item, ...changes });
    this.#store(type, data);
  }

  messages(...messages: Message[]): void {
    this.say("messages", { first_sequence: 1, messages });
  }

  /** A command with its result. */
  command(id: string, command: string, result: { exit_code: number; stdout: string; duration_ms: number }): void {
    this.startCommand(id, command);
    const state = result.exit_code === 0 ? "completed" : "failed";
    const kind = { category: "command", name: "run_command" } as const;
    this.messages({
      role: "tool",
      content: [{ type: "action_result", action_id: id, ...kind, state, output: result }],
    });
  }

  startCommand(id: string, command: string): void {
    const kind = { category: "command", name: "run_command" } as const;
    this.messages({ role: "assistant", content: [{ type: "action", id, ...kind, input: { command } }] });
  }

  text(role: Message["role"], text: string): void {
    this.messages({ role, content: [{ type: "text", text }] });
  }

  artifact(artifact: Extract<ArtifactItem, { artifact_type: "FILE" }>): void {
    this.say(
      "artifact_created",
      { filename: artifact.data.filename },
      { artifacts: [...(this.item.artifacts ?? []), artifact] },
    );
  }

  begin(): void {
    this.say("run_pending", { state: "PENDING" }, { state: "PENDING" });
    const at = new Date(START + 1000).toISOString();
    const started = { state: "INPROGRESS", started_at: at, run_time: "PT1.000S" } as const;
    this.say("worker_container_ready", { state: "INPROGRESS", duration_ms: 320 }, started);
  }

  end(state: "SUCCEEDED" | "FAILED" | "CANCELLED" = "SUCCEEDED", message?: string): void {
    const type = ({ SUCCEEDED: "run_succeeded", FAILED: "run_failed", CANCELLED: "run_cancelled" } as const)[state];
    this.ended = true;
    const said = message === undefined ? {} : { status_message: { message, error_code: "invalid_request" } };
    this.say(type, { state, ...(message !== undefined && { message }) }, { state, run_time: "PT62.500S", ...said });
  }

  /** A message of an execution, by whatever it says at once; long polls wait for the next one. */
  async eventsAfter(query: URLSearchParams, gone: AbortSignal): Promise<RunEvents> {
    const after = Number(query.get("after") ?? "0");
    const seconds = Number(query.get("wait") ?? "0");
    if (this.#events.length <= after && !this.ended && seconds > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000);
        const wake = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#waiting.push(wake);
        gone.addEventListener("abort", wake);
      });
    }
    const events = this.#events.slice(after);
    return { events, next: after + events.length, ended: this.ended };
  }

  /** How many readers hold a long poll open. */
  get readers(): number {
    return this.#waiting.length;
  }

  #store(type: RunEvent["type"], data: RunEvent["data"]): void {
    const sequence = this.#events.length + 1;
    const occurred = new Date(START + sequence * 1500).toISOString();
    this.#events.push(v.parse(RunEvent, { sequence, type, occurred_at: occurred, data }));
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
