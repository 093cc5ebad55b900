import { isWatched, type LivePorts } from "#shared/conversations/live-output.ts";
import { assertSameExecution, authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { LiveRequest, LiveResponse } from "#shared/wire/event.ts";

/**
 * POST /harness-support/live: sends live output to the readers of a run. Send frames only while
 * `watched` is true in the response of this or another request, at most two requests per second. Of each stream, only
 * the last 16 KiB are kept.
 */
export const recordLiveOutput = endpoint({
  request: { body: LiveRequest },
  reply: { 200: LiveResponse },
  quiet: true,
  async run({ body, principal, header }, ports: LivePorts) {
    const head = await authorizeExecution(principal, header, ports);
    assertSameExecution(head, body.execution_id);
    const watched = isWatched(head, ports.now());
    // Output that nobody reads is not kept.
    if (watched) await ports.live.append(head.run_id, head.execution_id, body.frames);
    return { status: 200, body: { watched } };
  },
});
