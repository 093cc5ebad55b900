import { begin } from "#shared/executions/begin-execution.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { noteSkill } from "#shared/executions/loaded-skill.ts";
import { type PromptPorts, resolvePrompt as resolve } from "#shared/executions/resolve-prompt.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { ResolvePromptRequest, ResolvePromptResponse } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/resolve-prompt: the first call of an execution, answered with all that it needs. With the skill that the
 * execution has found, the run shows and is found by that from then on.
 */
export const resolvePrompt = endpoint({
  request: { body: ResolvePromptRequest },
  reply: { 200: ResolvePromptResponse },
  async run({ body, principal, header }, ports: PromptPorts) {
    const head = await begin(await authorizeExecution(principal, header, ports), header("runyard-instance"), ports);
    const noted = body.skill === undefined ? head : await noteSkill(head, body.skill, ports);
    return { status: 200, body: await resolve(noted, ports) };
  },
});
