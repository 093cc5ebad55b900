interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The tags of the folders of functions/, in display order. */
const TAGS: Readonly<Record<string, Tag>> = {
  runs: {
    name: "Runs",
    description: "Create, follow, steer and cancel runs. A run is one task that an agent executes.",
  },
  conversations: {
    name: "Conversations",
    description: "Read conversations, which span all runs that continue each other.",
  },
  attachments: { name: "Attachments", description: "Upload files for new runs." },
  artifacts: { name: "Artifacts", description: "Read the results of runs: plans, files, screenshots and links." },
  schedules: { name: "Schedules", description: "Create runs on a cron schedule." },
  identities: {
    name: "Identities",
    description: "Manage the service accounts of a team's agents, with their keys and defaults.",
  },
  keys: { name: "Keys", description: "Manage personal API keys." },
  environments: { name: "Environments", description: "Manage the repositories, setup commands and secrets of runs." },
  models: { name: "Models", description: "List the available models." },
  skills: { name: "Agents", description: "List the skills in repositories." },
  workers: { name: "Workers", description: "List the self-hosted workers of a team." },
  "web-sessions": { name: "Web sessions", description: "Sign in to the web app, and manage where one is signed in." },
  public: { name: "Shared runs", description: "Read runs that are shared publicly." },
  usage: { name: "Usage", description: "Read what runs have used." },
  me: { name: "Me", description: "Read and change the caller's profile." },
  teams: { name: "Teams", description: "Manage teams, their members and settings." },
  invitations: { name: "Invitations", description: "Invite people to a team." },
  secrets: { name: "Secrets", description: "Manage the secrets of a team. Values are never returned." },
  sessions: { name: "Sessions", description: "Resolve links to shared sessions." },
  mcp: { name: "MCP", description: "Start and steer runs from agents and editors." },
  github: { name: "GitHub", description: "Claim installations of the deployment's GitHub App." },
  triggers: { name: "Triggers", description: "Start runs by the events of other systems." },
  audit: { name: "Audit", description: "Read who changed what in a team." },
  webhooks: { name: "Webhooks", description: "Receive the events of runs." },
  token: { name: "Tokens", description: "Exchange tokens of other issuers for API keys." },
  harness: {
    name: "Harness support",
    description: "Operations for the harness in a sandbox, called with the run's own key.",
  },
  "run-identity": { name: "Identity issuer", description: "Verify the identity tokens of runs." },
  docs: { name: "Documentation", description: "Read this document, the API reference and the error pages." },
};

/** The tag of a file in functions/, from its folder. */
export function toTag(file: string): Tag {
  const folder = file.slice(0, file.indexOf("/"));
  return TAGS[folder] ?? { name: folder.charAt(0).toUpperCase() + folder.slice(1), description: "" };
}

/** The tags of these files, in the order of the table; other tags come last. */
export function listTags(files: readonly string[]): readonly Tag[] {
  const order = Object.values(TAGS).map(({ name }) => name);
  const tags = new Map(files.map((file) => [toTag(file).name, toTag(file)]));
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...tags.values()].sort((a, b) => place(a.name) - place(b.name));
}
