/** Milliseconds for which a request that is sent again is taken for the one whose response was lost. */
const SAME_MS = 10 * 60_000;

/** The Idempotency-Key of each POST that has no response yet, by its content. */
const unanswered = new Map<string, { readonly key: string; readonly since: number }>();

/**
 * Sends a POST with the Idempotency-Key of an equal one whose response was lost, if there was one: a second click then creates
 * nothing twice. `key` is that of a new request.
 */
export async function sendOnce(
  content: string,
  key: string,
  send: (key: string) => Promise<Response>,
): Promise<Response> {
  const now = Date.now();
  for (const [sent, { since }] of unanswered) if (now - since > SAME_MS) unanswered.delete(sent);
  const same = unanswered.get(content) ?? { key, since: now };
  unanswered.set(content, same);
  const response = await send(same.key);
  if (response.status >= 500) return response;
  // The response can be lost until its body has been received.
  await response.clone().arrayBuffer();
  unanswered.delete(content);
  return response;
}
