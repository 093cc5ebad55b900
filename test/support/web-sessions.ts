import { request } from "./client.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** The origin of the web app of the test control plane. */
export const WEB_ORIGIN = "https://runyard.test";

/** A signed-in browser. */
export interface TestSession {
  readonly cookie: string;
  /** The headers that a page of the web app sends. */
  readonly headers: { readonly cookie: string; readonly origin: string };
}

/** Signs in with the credentials in `body`, by default with the key of the control plane's first person. */
export async function startSession(
  plane: TestControlPlane,
  body: { readonly key?: string; readonly token?: string } = { key: plane.key },
): Promise<TestSession> {
  const response = await request(plane, "POST", "/session", { key: undefined, body, headers: { origin: WEB_ORIGIN } });
  const [cookie = ""] = response.headers["set-cookie"]?.split(";") ?? [];
  if (response.status !== 204 || cookie === "") throw new Error(`POST /session returned ${response.status}`);
  return { cookie, headers: { cookie, origin: WEB_ORIGIN } };
}
