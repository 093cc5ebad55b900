import type { DryRunResponse, Finding } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";

/** Prints what a dry run found. The exit code says whether the run would be created. */
export function showFindings(context: Context, result: DryRunResponse): void {
  const { would_start, findings } = result;
  if (!would_start) context.exitCode = EXIT.failed;
  context.show(result, () => {
    for (const { severity, code, message, remedy } of findings) {
      context.say(`${formatSeverity(context, severity)} ${code}: ${message}`);
      context.say(context.style.dim(`  ${remedy}`));
    }
    context.say(would_start ? "The run would be created." : "The run would not be created.");
  });
}

function formatSeverity({ style }: Context, severity: Finding["severity"]): string {
  if (severity === "error") return style.red(severity);
  return severity === "warning" ? style.yellow(severity) : style.dim(severity);
}
