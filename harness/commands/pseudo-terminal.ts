import { formatShell } from "../isolation/bubblewrap.ts";
import type { Shell } from "../isolation/sandbox.ts";
import { quoteForShell } from "./shell-quote.ts";

/** Ends the input of the command once where its own has ended, as `script` does. */
const PYTHON = `import os, pty, sys
ends = [b"\\x04", b""]
code = pty.spawn(sys.argv[1:], stdin_read=lambda fd: os.read(fd, 1024) or ends.pop(0))
code = os.waitstatus_to_exitcode(code)
sys.exit(code if code >= 0 else 128 - code)`;

const MISSING =
  "tty: commands have no program here for a pseudo-terminal: install script of util-linux, or python3; or leave tty out";
const COLUMNS = 120;
const ROWS = 40;

/**
 * Builds the program that runs another one at a pseudo-terminal, with its exit code. Both report to descriptor 3 that they have begun.
 * @param script the path of the program, as commands see it
 */
export function buildTerminalProgram(script: string, shell: Shell = "bash"): string {
  const words = [...formatShell(shell), script].map(quoteForShell).join(" ");
  const command = quoteForShell(words);
  return [
    "exec 2>&1; echo >&3",
    // Busybox has a script that does not return the exit code.
    "if script --version 2>/dev/null < /dev/null | grep -q util-linux; then",
    // What the harness sends is not typed by anybody, so that it need not be shown.
    `  exec script --quiet --return --echo never --command ${command} /dev/null`,
    "elif python3 -c 'import pty' 2>/dev/null < /dev/null; then",
    `  exec python3 -c ${quoteForShell(PYTHON)} ${words}`,
    `else echo ${quoteForShell(MISSING)}; exit 127; fi`,
    "",
  ].join("\n");
}

/** What a command at a terminal does first. A pager would wait for somebody who turns its pages. */
export const TERMINAL_SETUP = `export TERM=xterm-256color PAGER=cat GIT_PAGER=cat; stty rows ${ROWS} cols ${COLUMNS} 2>/dev/null || :; `;
