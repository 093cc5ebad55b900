// An agent that speaks the Agent Client Protocol and does what its prompts say.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const sessions = `${process.env.HOME}/sessions`;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();
let count = 0;
let cancel = () => {};
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `own-${++count}`;
    waiting.set(id, resolve);
    send({ id, method, params });
  });

async function prompt({ sessionId, prompt: parts }) {
  const text = parts.map((part) => part.text).join("\n\n");
  const update = (sessionUpdate, more) =>
    send({ method: "session/update", params: { sessionId, update: { sessionUpdate, ...more } } });
  const say = (said) => update("agent_message_chunk", { content: { type: "text", text: said } });
  if (text.includes("WAIT") && !existsSync(`${sessions}/cancelled`)) {
    say("I wait.");
    await new Promise((resolve) => (cancel = resolve));
    writeFileSync(`${sessions}/cancelled`, "");
    return { stopReason: "cancelled" };
  }
  if (text.includes("FLOOD")) {
    for (let call = 0; call < 100_000; call++) {
      update("tool_call", { toolCallId: `c${call}`, title: "none", status: "completed" });
      // An agent that is stopped has nobody to write to.
      if (call % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return { stopReason: "end_turn" };
  }
  if (text.includes("CRASH")) process.exit(3);
  if (text.includes("REFUSE")) return { stopReason: "refusal" };
  if (!text.includes("WORK")) {
    say(JSON.stringify({ sessionId, text }));
    return { stopReason: "end_turn" };
  }
  update("agent_thought_chunk", { content: { type: "text", text: "I should " } });
  update("agent_thought_chunk", { content: { type: "text", text: "look first." } });
  update("plan", { entries: [{ content: "Change it", priority: "high", status: "in_progress" }] });
  say("I change ");
  say("the file.");
  update("tool_call", { toolCallId: "c1", title: "Edit a.txt", kind: "edit", status: "pending", rawInput: {} });
  const { outcome } = await ask("session/request_permission", {
    sessionId,
    toolCall: { toolCallId: "c1", kind: "edit", rawInput: { path: "a.txt" } },
    options: [
      { optionId: "no", name: "No", kind: "reject_once" },
      { optionId: "yes", name: "Yes", kind: "allow_once" },
    ],
  });
  if (outcome.optionId === "yes") {
    writeFileSync("a.txt", "new\n");
    const content = [{ type: "diff", path: "a.txt", oldText: "old\n", newText: "new\n" }];
    update("tool_call_update", { toolCallId: "c1", status: "completed", content });
  } else update("tool_call_update", { toolCallId: "c1", status: "failed", content: [] });
  const refused = await ask("fs/read_text_file", { sessionId, path: "/etc/passwd" });
  update("tool_call", { toolCallId: "c2", title: "ls", kind: "execute", status: "in_progress" });
  const output = [{ type: "content", content: { type: "text", text: "a.txt" } }];
  update("tool_call_update", { toolCallId: "c2", status: "completed", content: output });
  update("something_new", { anything: true });
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: "POST",
    body: JSON.stringify({
      model: "another",
      max_tokens: 10,
      stream: true,
      messages: [{ role: "user", content: "Hello" }],
    }),
  });
  const streamed = await response.text();
  say(
    `Done: ${refused.code}, ${[...streamed.matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text).join("")}, ${process.env.PLANTED ?? "no variable"}.`,
  );
  return { stopReason: "end_turn" };
}

const methods = {
  initialize: ({ clientCapabilities: { fs, terminal } }) => {
    if (fs.readTextFile || fs.writeTextFile || terminal) throw new Error("too many capabilities");
    return { protocolVersion: process.env.ACP_VERSION ? 9 : 1, agentCapabilities: { loadSession: true } };
  },
  "session/new": ({ mcpServers }) => {
    mkdirSync(sessions, { recursive: true });
    const sessionId = `s-${Date.now()}`;
    writeFileSync(`${sessions}/${sessionId}`, JSON.stringify(mcpServers));
    return { sessionId };
  },
  "session/load": ({ sessionId }) => {
    if (!existsSync(`${sessions}/${sessionId}`)) throw new Error("unknown session");
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "replayed" } };
    send({ method: "session/update", params: { sessionId, update } });
    return null;
  },
  "session/prompt": prompt,
  "session/cancel": () => cancel(),
};

process.stdout.write("a line that is no message\n");
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(result ?? error);
  try {
    const done = await methods[method](params);
    if (id !== undefined) send({ id, result: done ?? {} });
  } catch (failure) {
    send({ id, error: { code: -32000, message: failure.message } });
  }
});
