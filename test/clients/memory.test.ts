import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const EVENTS = 100_000;
const PER_RESPONSE = 500;
let server: Server;
let baseURL = "";

beforeAll(async () => {
  server = createServer((request, response) => {
    const after = Number(new URL(request.url ?? "", "http://api.test").searchParams.get("after"));
    const next = Math.min(EVENTS, after + PER_RESPONSE);
    const events = Array.from({ length: next - after }, (_, index) => ({
      sequence: after + index + 1,
      type: "messages",
      occurred_at: "2026-05-18T19:00:00.000Z",
      data: { text: `${after + index}`.padEnd(500, ".") },
    }));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ events, next, ended: next === EVENTS }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address === "object" && address !== null) baseURL = `http://127.0.0.1:${address.port}/api/v1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it("follows 100,000 events, 60 MB of them, without keeping them", async () => {
  const program = join(import.meta.dirname, "follow-many.ts");
  const options = ["--expose-gc", "--max-old-space-size=64", program, baseURL];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  const { count, megabytes }: { count: number; megabytes: number[] } = JSON.parse(stdout);
  expect(count).toBe(EVENTS);
  expect(megabytes).toHaveLength(10);
  // The minimum of each half, because a single measurement can include garbage that a busy machine has not collected yet.
  const growth = Math.min(...megabytes.slice(5)) - Math.min(...megabytes.slice(0, 5));
  expect(growth).toBeLessThan(2);
});
