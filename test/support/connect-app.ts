import { createInstallationTokens } from "#shared/github/installation-tokens.ts";
import { claimInstallation } from "./claim-installation.ts";
import { request } from "./client.ts";
import { type GitServer, startGitServer } from "./git-server.ts";
import { GithubAppStandIn } from "./github-app-stand-in.ts";
import { signed } from "./hooks.ts";
import { startStorage } from "./push-commit.ts";
import { type ConnectedPlane, connectPlane, startSystems, type TestSystems } from "./systems-stand-in.ts";

const SECRET = "the-secret-of-the-app";
const INSTALLATION = { id: 2_000_001, account: { id: 7, login: "acme", type: "Organization" } };
const PERMISSIONS = {
  metadata: "read",
  contents: "write",
  issues: "write",
  pull_requests: "write",
  checks: "write",
} as const;

/** A control plane with a GitHub App, whose tokens are those of a strict GitHub, also for its repository `acme/shop`. */
export interface ConnectedApp extends ConnectedPlane, AsyncDisposable {
  readonly systems: TestSystems;
  readonly server: GitServer;
  readonly app: GithubAppStandIn;
  /** Delivers an event of the App, and expects it to be accepted. */
  readonly send: (type: string, payload: object) => Promise<void>;
}

/** Starts GitHub with the App, which the team of the plane has installed on `acme/shop`. There, `ada` may write. */
export async function connectApp(): Promise<ConnectedApp> {
  const systems = await startSystems();
  const connected = await connectPlane(systems);
  const { plane } = connected;
  const storage = await startStorage(plane);
  const now = () => plane.clock.now;
  const app = new GithubAppStandIn(now);
  app.install(["acme/shop"], { permissions: PERMISSIONS });
  const mayPush = (token: string) => app.isGood(token) && app.isAllowed(token, "acme/shop", "contents:write");
  const server = await startGitServer(mayPush);
  Object.assign(systems.connected, { app, git: server });
  systems.permissions.set("acme/shop/ada", "write");
  const settings = { id: app.id, privateKey: async () => app.privateKey };
  plane.repositories.appTokens = createInstallationTokens(settings, { apiUrl: systems.addresses.github, fetch, now });
  plane.repositories.appWebhookSecret = SECRET;
  await claimInstallation(plane, plane.team);
  let count = 0;
  return {
    ...connected,
    systems,
    server,
    app,
    async send(type, payload) {
      plane.clock.now += 1000;
      const body = JSON.stringify({ installation: INSTALLATION, ...payload });
      const headers = signed.github(SECRET, body, type, `app-delivery-${++count}`);
      const { status } = await request(plane, "POST", "/hooks/github-app", { key: undefined, body, headers });
      if (status !== 200) throw new Error(`the event was refused: ${status}`);
    },
    async [Symbol.asyncDispose]() {
      for (const started of [systems, server, storage]) await started[Symbol.asyncDispose]();
    },
  };
}
