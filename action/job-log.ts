import { type DisplayAction, type DisplayEvent, toDisplayEvents } from "../cli/src/follow/display-events.ts";
import { RunClock } from "../cli/src/follow/run-clock.ts";
import { seconds } from "../cli/src/style.ts";
import { oneLine, printable } from "../cli/src/terminal-text.ts";
import type { RunEvent } from "../clients/typescript/src/index.ts";
import { command, type Job, printText } from "./job.ts";

type Result = DisplayEvent & { readonly kind: "result" };

/** Shows a run in the log of a job: steps as lines, each command with its output and each change as a group to open. */
export class JobLog {
  readonly #job: Job;
  readonly #clock = new RunClock();
  #open = false;

  constructor(job: Job) {
    this.#job = job;
  }

  show(event: RunEvent): void {
    this.#clock.passedAt(event.type === "messages" ? "" : event.occurred_at);
    for (const displayEvent of toDisplayEvents(event)) this.#show(displayEvent);
  }

  /** Ends the group that is open. */
  close(): void {
    if (this.#open) command(this.#job, "endgroup", "");
    this.#open = false;
  }

  #show(displayEvent: DisplayEvent): void {
    const at = `${seconds(this.#clock.passedAt(displayEvent.at)).padStart(9)}  `;
    if (displayEvent.kind === "result") {
      this.#result(displayEvent, at);
      return;
    }
    this.close();
    if (displayEvent.kind === "action" && displayEvent.isCommand) this.#openGroup(displayEvent.input, "$ ");
    else if (displayEvent.kind === "action") printText(this.#job, oneLine(`• ${displayEvent.title}`), at);
    else if (displayEvent.kind === "step") printText(this.#job, stepText(displayEvent), at);
    else printText(this.#job, printable(displayEvent.text.trimEnd()), at);
  }

  #result(result: Result, at: string): void {
    const { action } = result;
    if (action?.isCommand === true) this.#openGroup(action.input, "$ ");
    const output = printable(result.output).trimEnd();
    const isCommand = this.#open;
    if (isCommand && output !== "") printText(this.#job, output, "| ");
    this.close();
    const line = oneLine([isCommand ? "" : formatTitle(result, action), result.summary].filter(Boolean).join("  "));
    printText(this.#job, line, at);
    if (isCommand) return;
    const details = printable(result.diff ?? (result.showsOutput ? result.output : "")).trimEnd();
    if (details === "") return;
    this.#openGroup(result.diff === undefined ? "output" : "diff", "");
    printText(this.#job, details, "| ");
    this.close();
  }

  #openGroup(given: string, mark: string): void {
    this.close();
    const [first = "", ...rest] = printable(given).trim().split("\n");
    command(this.#job, "group", `${mark}${first}`);
    this.#open = true;
    if (rest.length > 0) printText(this.#job, rest.join("\n"), "$ ");
  }
}

const formatTitle = ({ title }: Result, action: DisplayAction | undefined): string => {
  const text = action?.title ?? title;
  return text === undefined ? "" : `• ${text}`;
};

function stepText({ state, name, durationMs, detail, failed }: DisplayEvent & { kind: "step" }): string {
  const duration = durationMs === undefined ? undefined : seconds(durationMs);
  const parts = [state, name, failed && state === undefined ? "failed" : undefined, detail, duration];
  return oneLine(parts.filter((part) => part !== undefined).join("  "));
}
