import type { CommandResult } from "../commands/command-runner.ts";
import type { OpenOutput } from "../reporting/live-output.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { SetupError } from "../support/stop.ts";
import { cutBytes, cutBytesFromEnd, toWellFormed } from "../support/text-limits.ts";
import { reportStep, type StepDetail } from "./report-step.ts";
import type { SetupOptions } from "./setup-options.ts";

const SETUP_MS = 10 * 60_000;
/** Time to read which line failed. */
const READ_MS = 10_000;
/** Lines of a setup command's output in the timeline, and of a failed one's in the run's status message. */
const LAST_LINES = 10;
/** The longest quoted command, and the longest quoted line of one. */
const COMMAND_BYTES = 200;
/** The longest command, and the longest output of it, in the description of an event. */
const SHOWN_BYTES = 2_000;
/** The longest status message. */
const MESSAGE_BYTES = 1_024;
/** The output of a command that is kept: its end. */
const KEPT_BYTES = 8_192;
/** The output that is shown when a command turns out to take long: the end of what it has printed so far. */
const EARLY_BYTES = 16_384;

/**
 * Runs one setup command of the environment. Its output is shown while it runs, as that of the agent's commands is, and its end is kept in
 * the timeline.
 */
export async function runSetupCommand(command: string, workingDirectory: string, options: SetupOptions): Promise<void> {
  const { outbox, live } = options;
  const id = randomUUID();
  const output = openLater(() => live.open(id));
  let result: CommandResult | undefined;
  const timeoutMs = Math.max(1, Math.min(SETUP_MS, options.deadlineAt - Date.now()));
  const request = { command: withLine(command), workingDirectory, timeoutMs, isShown: true, onOutput: output.push };
  const run = async () => {
    result = await options.runner.run(request).finally(output.end);
    const line = await readLine(result, options);
    return explain(result, line, result.timedOut ? timeoutMs : undefined);
  };
  await reportStep(outbox, "setup_commands", describe(command), run, {
    started() {
      output.open();
      return { action_id: id };
    },
    ended: () =>
      result === undefined
        ? { action_id: id }
        : { action_id: id, output: toWellFormed(cutBytesFromEnd(result.text, KEPT_BYTES)) },
  });
}

/** The timeline also shows the end of what a command printed that succeeded. */
const describe = (command: string): StepDetail<string> => ({
  start: command,
  end: (output) => (output === "" ? command : `${cutBytes(command, SHOWN_BYTES)}\n${output}`),
});

const LINE_FILE = '"$TMPDIR/.runyard-setup-line"';
/**
 * Notes the line of a script that failed last, where the shell has a trap for it: dash fails without the check. It precedes the first line of
 * the script, so that lines keep their numbers.
 */
const NOTE_LINE = `if (trap : ERR) 2>/dev/null; then trap 'echo "$LINENO" > ${LINE_FILE}' ERR; fi; `;

const withLine = (command: string): string => (isScript(command) ? `${NOTE_LINE}${command}` : command);
const isScript = (command: string): boolean => command.trim().includes("\n");

/** Reads which line of a script has failed, as a command: what the script has left in its files is not trusted. */
async function readLine(
  { command, exitCode, workingDirectory }: CommandResult,
  { runner }: SetupOptions,
): Promise<number | undefined> {
  if (exitCode === 0 || !command.startsWith(NOTE_LINE)) return undefined;
  const read = { command: `head -c 10 ${LINE_FILE}`, workingDirectory, timeoutMs: READ_MS };
  const { exitCode: code, text } = await runner.run(read);
  return code === 0 && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

/**
 * Returns the last lines of the output.
 * @throws SetupError that names the command, and the line of it, that failed
 */
function explain(
  { command: run, exitCode, text }: CommandResult,
  line: number | undefined,
  exceededMs: number | undefined,
): string {
  if (exitCode === 0) return takeLastLines(text, SHOWN_BYTES);
  const command = run.startsWith(NOTE_LINE) ? run.slice(NOTE_LINE.length) : run;
  const code = `exit code ${exitCode}`;
  const how =
    exceededMs === undefined ? `ended with ${code}` : `took longer than ${Math.ceil(exceededMs / 1000)} s (${code})`;
  const failed = line === undefined ? "" : (command.split("\n")[line - 1]?.trim() ?? "");
  const named =
    failed === ""
      ? `the setup command "${cutBytes(command, COMMAND_BYTES)}"`
      : `line ${line} of a setup command, "${cutBytes(failed, COMMAND_BYTES)}",`;
  const what = `${named} ${how}`;
  const last = takeLastLines(text, MESSAGE_BYTES - Buffer.byteLength(what) - 2);
  throw new SetupError(last === "" ? what : `${what}:\n${last}`);
}

/** Takes as many whole lines from the end as fit, or the end of a line that is too long. */
function takeLastLines(text: string, bytes: number): string {
  const lines = text.trimEnd().split("\n").slice(-LAST_LINES);
  while (lines.length > 1 && Buffer.byteLength(lines.join("\n")) > bytes) lines.shift();
  return cutBytesFromEnd(lines.join("\n"), bytes);
}

/** Output that nobody sees before it is opened: what takes a moment only is shown at its end. */
function openLater(open: () => OpenOutput) {
  let early: Buffer[] = [];
  let skipped = 0;
  let output: OpenOutput | undefined;
  let hasEnded = false;
  return {
    push(chunk: Buffer) {
      if (output !== undefined) return output.push(chunk);
      early.push(chunk);
      let bytes = early.reduce((sum, { length }) => sum + length, 0);
      while (bytes > EARLY_BYTES && early.length > 1) {
        const dropped = early.shift()?.length ?? 0;
        bytes -= dropped;
        skipped += dropped;
      }
    },
    open() {
      if (hasEnded) return;
      output = open();
      if (skipped > 0) output.skip(skipped);
      for (const chunk of early) output.push(chunk);
      early = [];
    },
    end() {
      hasEnded = true;
      output?.end();
    },
  };
}
