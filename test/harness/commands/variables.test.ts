import { describe, expect, it } from "vitest";
import { FakeControlPlane, type RunContext } from "../../../lab/fake-control-plane.ts";
import { runHarness } from "../support/run-harness.ts";

/** Executes a command in a run, and returns its output. */
async function runCommand(command: string, context: Partial<RunContext>): Promise<string | undefined> {
  await using plane = await FakeControlPlane.start({ prompt: `\`\`\`sh\n${command}\n\`\`\``, context });
  await runHarness(plane);
  expect(plane.outcome).toMatchObject({ success: true });
  return plane.outputs[0];
}

describe("the variables of a run's environment", () => {
  // @contract environments.variables: Environments have variables, which commands get.
  it("are those of setup commands and of commands, whatever characters they contain", async () => {
    const variables = { GREETING: 'a "b" $HOME\n`c` é', EMPTY: "" };
    const setup_commands = ['printf %s "$GREETING" > "$RUNYARD_WORKSPACE/seen"'];
    const command = 'cat seen; printf "|%s|%s" "$GREETING" "${EMPTY-unset}"';
    expect(await runCommand(command, { variables, setup_commands })).toBe(
      `${variables.GREETING}|${variables.GREETING}|`,
    );
  });

  it("yield to secrets and to the variables of the sandbox", async () => {
    const variables = { TOKEN: "plain-value-0001", RUNYARD_RUN_ID: "another" };
    const secrets = [{ name: "TOKEN", value: "secret-value-0001" }];
    const command = 'test "$TOKEN" != plain-value-0001 && test "$RUNYARD_RUN_ID" != another && echo kept';
    expect(await runCommand(command, { variables, secrets })).toBe("kept\n");
  });
});

describe("the variables of the sandbox", () => {
  it("name the workspace and its directories", async () => {
    const command =
      '[ "$RUNYARD_WORKSPACE" = "$PWD" ] && echo "${RUNYARD_ATTACHMENTS#"$PWD"} ${RUNYARD_OUTPUT#"$PWD"}"';
    expect(await runCommand(command, {})).toBe("/attachments /output\n");
  });
});
