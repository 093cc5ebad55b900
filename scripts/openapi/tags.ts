interface Tag {
  readonly name: string;
  readonly description: string;
}

/** Folders of functions/ as readers see them, in the order in which they are shown. */
const TAGS: Readonly<Record<string, Tag>> = {
  runs: { name: "Runs", description: "A run is one task for an agent, from its prompt to its end." },
  conversations: { name: "Conversations", description: "What was said, over all runs that continue each other." },
  attachments: { name: "Attachments", description: "What a caller gives a run beside its prompt." },
  artifacts: { name: "Artifacts", description: "What a run leaves behind." },
  schedules: { name: "Schedules", description: "Prompts that are run whenever their cron says." },
  identities: { name: "Identities", description: "Agents of a team as accounts of their own, with keys and defaults." },
  keys: { name: "Keys", description: "A person's own API keys." },
  environments: { name: "Environments", description: "Repositories and set-up that runs begin with." },
  models: { name: "Models", description: "The models that runs may use." },
  skills: { name: "Agents", description: "Skills in repositories that runs may start from." },
  workers: { name: "Workers", description: "Machines of the team that carry runs out." },
  me: { name: "Me", description: "The person whose key it is." },
  teams: { name: "Teams", description: "Teams, their members and their settings." },
  invitations: { name: "Invitations", description: "Links by which people join a team." },
  secrets: { name: "Secrets", description: "Values that configurations refer to by name, and that are never shown." },
  sessions: { name: "Sessions", description: "Links to shared sessions." },
  webhooks: { name: "Webhooks", description: "Addresses that are told of what happens to runs." },
  token: { name: "Tokens", description: "Keys in exchange for tokens of other issuers." },
  harness: { name: "Harness support", description: "What the program in a sandbox calls, with its run's own key." },
  docs: { name: "Documentation", description: "This document, its pages, and a page for each error." },
};

/** The tag of a file in functions/: its folder's, also of one that nobody has described yet. */
export function tagOf(file: string): Tag {
  const folder = file.slice(0, file.indexOf("/"));
  return TAGS[folder] ?? { name: folder.charAt(0).toUpperCase() + folder.slice(1), description: "" };
}

/** The tags of these files, in the order of the table; those that are not in it come last. */
export function tagsOf(files: readonly string[]): readonly Tag[] {
  const order = Object.values(TAGS).map(({ name }) => name);
  const tags = new Map(files.map((file) => [tagOf(file).name, tagOf(file)]));
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...tags.values()].sort((a, b) => place(a.name) - place(b.name));
}
