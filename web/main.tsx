import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/shell.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { readStored, store } from "./api/browser-storage.ts";
import { isSignedOut } from "./api/client.ts";
import { dropEarlyResponses } from "./api/early-responses.ts";
import { endFirstRender } from "./api/first-render.ts";
import { queryClient } from "./api/query-client.ts";
import { keepSession, sessionQuery } from "./api/session.ts";
import { router } from "./router.tsx";

const RELOADED = "runyard.reloaded";

// A page that was opened before a deployment requests files that the deployment replaced.
addEventListener("vite:preloadError", (event) => {
  const last = Number(readStored("sessionStorage", RELOADED) ?? 0);
  if (Date.now() - last < 60_000) return;
  // Without storage, the page that is loaded next would not know of this reload, and could repeat it without end.
  if (!store("sessionStorage", RELOADED, String(Date.now()))) return;
  event.preventDefault();
  location.reload();
});

// A session that ended elsewhere leads back to the sign-in.
queryClient.getQueryCache().subscribe((event) => {
  if (event.type !== "updated" || event.action.type !== "error" || !isSignedOut(event.action.error)) return;
  queryClient.setQueryData(sessionQuery.queryKey, null);
  void router.invalidate();
});
keepSession();

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
