/** The addresses of the pages of a person who is signed in, by what is visible when they are loaded. */
export const PAGES: readonly { readonly path: string; readonly heading: string }[] = [
  { path: "/inbox", heading: "Inbox" },
  { path: "/runs", heading: "Runs" },
  { path: "/runs/new", heading: "New run" },
  { path: "/runs/new?schedule=yes", heading: "New schedule" },
  { path: "/schedules", heading: "Schedules" },
  { path: "/triggers", heading: "Triggers" },
  { path: "/environments", heading: "Environments" },
  { path: "/agents", heading: "Agents" },
  { path: "/resources", heading: "Resources" },
  { path: "/usage", heading: "Usage" },
  { path: "/settings", heading: "Settings" },
  { path: "/settings/keys", heading: "API keys" },
  { path: "/settings/team", heading: "Team" },
  { path: "/settings/webhooks", heading: "Webhooks" },
  { path: "/settings/audit", heading: "Audit log" },
];
