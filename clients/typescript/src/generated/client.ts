// Made of docs/openapi.json and clients/methods.json by `npm run clients:generate`; not to be edited.
import { Runs } from "../resources/runs.ts";
import { Attachments } from "../resources/attachments.ts";
import { Artifacts } from "../resources/artifacts.ts";
import type { Transport } from "../transport.ts";
import { Agents, Conversations, Documentation, Environments, HarnessSupport, Identities, Invitations, Keys, Me, Models, Schedules, Secrets, Sessions, Teams, Workers } from "./resources.ts";

/** All operations of the API, by resource. */
export class ApiResources {
  /** A run is one task for an agent, from its prompt to its end. */
  readonly runs: Runs;
  /** What was said, over all runs that continue each other. */
  readonly conversations: Conversations;
  /** Links to shared sessions. */
  readonly sessions: Sessions;
  /** What a caller gives a run beside its prompt. */
  readonly attachments: Attachments;
  /** What a run leaves behind. */
  readonly artifacts: Artifacts;
  /** Skills in repositories that runs may start from. */
  readonly agents: Agents;
  /** Machines of the team that carry runs out. */
  readonly workers: Workers;
  /** The models that runs may use. */
  readonly models: Models;
  /** Prompts that are run whenever their cron says. */
  readonly schedules: Schedules;
  /** Agents of a team as accounts of their own, with keys and defaults. */
  readonly identities: Identities;
  /** Repositories and set-up that runs begin with. */
  readonly environments: Environments;
  /** A person's own API keys. */
  readonly keys: Keys;
  /** The person whose key it is. */
  readonly me: Me;
  /** Teams, their members and their settings. */
  readonly teams: Teams;
  /** Links by which people join a team. */
  readonly invitations: Invitations;
  /** Values that configurations refer to by name, and that are never shown. */
  readonly secrets: Secrets;
  /** What the program in a sandbox calls, with its run's own key. */
  readonly harnessSupport: HarnessSupport;
  /** This document, its pages, and a page for each error. */
  readonly documentation: Documentation;

  constructor(transport: Transport) {
    this.runs = new Runs(transport);
    this.conversations = new Conversations(transport);
    this.sessions = new Sessions(transport);
    this.attachments = new Attachments(transport);
    this.artifacts = new Artifacts(transport);
    this.agents = new Agents(transport);
    this.workers = new Workers(transport);
    this.models = new Models(transport);
    this.schedules = new Schedules(transport);
    this.identities = new Identities(transport);
    this.environments = new Environments(transport);
    this.keys = new Keys(transport);
    this.me = new Me(transport);
    this.teams = new Teams(transport);
    this.invitations = new Invitations(transport);
    this.secrets = new Secrets(transport);
    this.harnessSupport = new HarnessSupport(transport);
    this.documentation = new Documentation(transport);
  }
}
