import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/shell.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { isSignedOut } from "./api/client.ts";
import { dropEarlyResponses } from "./api/early-responses.ts";
import { endFirstRender } from "./api/first-render.ts";
import { queryClient, refreshQueries } from "./api/query-client.ts";
import { keepSession, sessionQuery } from "./api/session.ts";
import { onTeamChoice } from "./api/team-choice.ts";
import { router } from "./router.tsx";
import { reloadIfReachable } from "./shell/reload.ts";

// A page that was opened before a deployment requests files that the deployment replaced. Loading the app again helps there.
addEventListener("vite:preloadError", () => void reloadIfReachable());

// A session that has ended leads back to the sign-in. What was written and not sent is there after it.
const leaveIfSignedOut = (event: { readonly type: string; readonly action?: { readonly type: string } }) => {
  const { action } = event;
  if (action?.type !== "error" || !("error" in action) || !isSignedOut(action.error)) return;
  queryClient.setQueryData(sessionQuery.queryKey, null);
  void router.invalidate();
};
queryClient.getQueryCache().subscribe(leaveIfSignedOut);
queryClient.getMutationCache().subscribe(leaveIfSignedOut);
keepSession();
onTeamChoice(() => void refreshQueries());

/** Milliseconds after the first render in which the first page takes its early responses. Parts of it wait for others. */
const EARLY_MS = 5_000;

function App() {
  useEffect(() => {
    const timer = setTimeout(dropEarlyResponses, EARLY_MS);
    return () => clearTimeout(timer);
  }, []);
  return <RouterProvider router={router} />;
}

/** The first render shows the page at once, instead of growing with each thing that arrives. */
function render(): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error("index.html has no #root");
  endFirstRender();
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
router.load().then(render, render);
