import { type DisplayEvent, toDisplayEvents } from "../cli/src/follow/display-events.ts";
import { seconds } from "../cli/src/style.ts";
import { oneLine, printable } from "../cli/src/terminal-text.ts";
import type { RunEvent } from "../clients/typescript/src/index.ts";
import { command, type Job, printText } from "./job.ts";

/** Shows a run in the log of a job: steps as lines, each command with its output as a group to open. */
export class JobLog {
  readonly #job: Job;
  #since: number | undefined;
  #open = false;

  constructor(job: Job) {
    this.#job = job;
  }

  show(event: RunEvent): void {
    this.#since ??= Date.parse(event.occurred_at);
    for (const displayEvent of toDisplayEvents(event)) this.#show(displayEvent, this.#since);
  }

  /** Ends the group that is open. */
  close(): void {
    if (this.#open) command(this.#job, "endgroup", "");
    this.#open = false;
  }

  #show(displayEvent: DisplayEvent, since: number): void {
    const at = `${seconds(Math.max(0, Date.parse(displayEvent.at) - since)).padStart(9)}  `;
    if (displayEvent.kind === "command") {
      this.#openGroup(printable(displayEvent.text).trim(), displayEvent.shell);
    } else if (displayEvent.kind === "result") {
      const output = printable(displayEvent.output).trimEnd();
      if (output !== "") printText(this.#job, output, "| ");
      this.close();
      printText(this.#job, oneLine(displayEvent.said), at);
    } else {
      this.close();
      const text = displayEvent.kind === "step" ? stepText(displayEvent) : printable(displayEvent.text.trimEnd());
      printText(this.#job, text, at);
    }
  }

  #openGroup(text: string, isShell: boolean): void {
    this.close();
    const [first = "", ...rest] = text.split("\n");
    command(this.#job, "group", `${isShell ? "$ " : ""}${first}`);
    this.#open = true;
    if (rest.length > 0) printText(this.#job, rest.join("\n"), "$ ");
  }
}

function stepText({ state, name, durationMs, detail, failed }: DisplayEvent & { kind: "step" }): string {
  const duration = durationMs === undefined ? undefined : seconds(durationMs);
  const parts = [state, name, duration, detail, failed && state === undefined ? "failed" : undefined];
  return oneLine(parts.filter((part) => part !== undefined).join("  "));
}
