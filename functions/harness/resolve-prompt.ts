import { beginExecution } from "#shared/executions/begin-execution.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { recordSkill } from "#shared/executions/loaded-skill.ts";
import { assemblePrompt, type PromptPorts } from "#shared/executions/resolve-prompt.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { ResolvePromptRequest, ResolvePromptResponse } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/resolve-prompt: starts an execution and returns its prompt, context and secrets. The harness
 * makes this call first. It binds the execution to the `Runyard-Instance` of the caller and moves the run to
 * `INPROGRESS`. If the harness sends the skill that it has loaded, the run shows that skill from then on. Tokens among
 * the secrets are renewed if they are about to expire, or if the harness says that a server has refused them.
 */
export const resolvePrompt = endpoint({
  request: { body: ResolvePromptRequest },
  reply: { 200: ResolvePromptResponse },
  async run({ body, principal, header }, ports: PromptPorts) {
    const head = await beginExecution(
      await authorizeExecution(principal, header, ports),
      header("runyard-instance"),
      ports,
    );
    const recorded = body.skill === undefined ? head : await recordSkill(head, body.skill, ports);
    return { status: 200, body: await assemblePrompt(recorded, body.refused_secrets ?? [], ports) };
  },
});
