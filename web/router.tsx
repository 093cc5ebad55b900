import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import * as v from "valibot";
import { readBeforeFirstRender } from "./api/first-render.ts";
import { queryClient } from "./api/query-client.ts";
import { sessionQuery } from "./api/session.ts";
import { RunSearch } from "./runs/run-search.ts";
import { AppError, NotFoundPage, PageError } from "./shell/page-error.tsx";
import { MissingPartError } from "./shell/reload.ts";
import { Shell } from "./shell/shell.tsx";

const Optional = v.optional(v.fallback(v.optional(v.string()), undefined));

/**
 * A page whose script is loaded when it is first shown. The router would load the whole app again where that fails, which only
 * `reload.ts` does, where it helps.
 */
const loadPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch((error: unknown) => {
        throw new MissingPartError(error);
      }),
    name,
  );

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage, errorComponent: AppError });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: v.object({ to: Optional, token: Optional }),
  component: loadPage(() => import("./sign-in/sign-in-page.tsx"), "SignInPage"),
});

const signInCallback = createRoute({
  getParentRoute: () => root,
  path: "/sign-in/callback",
  validateSearch: v.object({ code: Optional, state: Optional, error: Optional, error_description: Optional }),
  component: loadPage(() => import("./sign-in/callback-page.tsx"), "CallbackPage"),
});

const publicRun = createRoute({
  getParentRoute: () => root,
  path: "/shared/$sessionId",
  component: loadPage(() => import("./public-run/public-run-page.tsx"), "PublicRunPage"),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery);
    if (session === null)
      throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { to: location.href } });
  },
});

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs", replace: true });
  },
});

const inbox = createRoute({
  getParentRoute: () => shell,
  path: "/inbox",
  component: loadPage(() => import("./inbox/inbox-page.tsx"), "InboxPage"),
});

const runs = createRoute({
  getParentRoute: () => shell,
  path: "/runs",
  validateSearch: RunSearch,
  beforeLoad: ({ search }) =>
    readBeforeFirstRender(async () => (await import("./runs/runs-page.tsx")).readRunsPage(search)),
  component: loadPage(() => import("./runs/runs-page.tsx"), "RunsPage"),
});

const newRun = createRoute({
  getParentRoute: () => shell,
  path: "/runs/new",
  validateSearch: v.object({ from: Optional, schedule: Optional, environment: Optional, skill: Optional }),
  component: loadPage(() => import("./new-run/new-run-page.tsx"), "NewRunPage"),
});

const run = createRoute({
  getParentRoute: () => shell,
  path: "/runs/$runId",
  beforeLoad: ({ params }) =>
    readBeforeFirstRender(async () => (await import("./run/run-page.tsx")).readRunPage(params.runId)),
  component: loadPage(() => import("./run/run-page.tsx"), "RunPage"),
});

const schedules = createRoute({
  getParentRoute: () => shell,
  path: "/schedules",
  component: loadPage(() => import("./schedules/schedules-page.tsx"), "SchedulesPage"),
});

const schedule = createRoute({
  getParentRoute: () => shell,
  path: "/schedules/$scheduleId",
  component: loadPage(() => import("./schedules/schedule-page.tsx"), "SchedulePage"),
});

const triggers = createRoute({
  getParentRoute: () => shell,
  path: "/triggers",
  component: loadPage(() => import("./triggers/triggers-page.tsx"), "TriggersPage"),
});

const trigger = createRoute({
  getParentRoute: () => shell,
  path: "/triggers/$triggerUid",
  component: loadPage(() => import("./triggers/trigger-page.tsx"), "TriggerPage"),
});

const environments = createRoute({
  getParentRoute: () => shell,
  path: "/environments",
  component: loadPage(() => import("./environments/environments-page.tsx"), "EnvironmentsPage"),
});

const environment = createRoute({
  getParentRoute: () => shell,
  path: "/environments/$environmentUid",
  component: loadPage(() => import("./environments/environment-page.tsx"), "EnvironmentPage"),
});

const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  component: loadPage(() => import("./agents/agents-page.tsx"), "AgentsPage"),
});

const agent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/$agentUid",
  component: loadPage(() => import("./agents/agent-page.tsx"), "AgentPage"),
});

const resources = createRoute({
  getParentRoute: () => shell,
  path: "/resources",
  component: loadPage(() => import("./resources/resources-page.tsx"), "ResourcesPage"),
});

const usage = createRoute({
  getParentRoute: () => shell,
  path: "/usage",
  component: loadPage(() => import("./usage/usage-page.tsx"), "UsagePage"),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: loadPage(() => import("./settings/settings-page.tsx"), "SettingsPage"),
});

const settingsSection = createRoute({
  getParentRoute: () => shell,
  path: "/settings/$section",
  component: loadPage(() => import("./settings/settings-page.tsx"), "SettingsPage"),
});

const github = createRoute({
  getParentRoute: () => shell,
  path: "/github",
  component: loadPage(() => import("./github/github-page.tsx"), "GithubPage"),
});

/** Addresses of no page, within the frame of all pages. */
const unknown = createRoute({ getParentRoute: () => shell, path: "$", component: NotFoundPage });

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$token",
  component: loadPage(() => import("./sign-in/invitation-page.tsx"), "InvitationPage"),
});

const pages = [
  ...[home, inbox, runs, newRun, run, schedules, schedule, triggers, trigger],
  ...[environments, environment, agents, agent, resources, usage, settings, settingsSection, github, unknown],
];

export const router = createRouter({
  routeTree: root.addChildren([signIn, signInCallback, publicRun, invitation, shell.addChildren(pages)]),
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultPendingMs: 300,
  // In place of the page alone: the navigation stays.
  defaultErrorComponent: PageError,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
