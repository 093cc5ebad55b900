import { once } from "node:events";
import { createServer } from "node:net";

/** A port that the kernel gave out just now, so that no other program uses it yet. */
export async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (typeof address !== "object" || address === null) throw new Error("the listener has no port");
  await new Promise((resolve) => listener.close(resolve));
  return address.port;
}
