// Follows a run with many events in its own process, and reports how much of the heap it used meanwhile.
import { Runyard } from "../../clients/typescript/src/index.ts";

const client = new Runyard({ baseURL: process.argv[2], apiKey: "ryp_x" });
const megabytes: number[] = [];
let count = 0;
for await (const { sequence } of client.runs.events("r1")) {
  count += 1;
  if (sequence !== count) throw new Error(`event ${sequence} came after ${count - 1}`);
  if (count % 10_000 === 0) {
    await globalThis.gc?.({ execution: "async" });
    megabytes.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
}
console.log(JSON.stringify({ count, megabytes }));
