// Generated from docs/openapi.json and clients/methods.json by `npm run docs`. Do not edit.
import { Runs } from "../resources/runs.ts";
import { Attachments } from "../resources/attachments.ts";
import { Artifacts } from "../resources/artifacts.ts";
import type { Transport } from "../transport.ts";
import { Agents, Audit, Conversations, Documentation, Environments, Github, HarnessSupport, Identities, IdentityIssuer, Invitations, Keys, Mcp, Me, Models, Schedules, Secrets, Sessions, Teams, Token, Triggers, Usage, WebSessions, Webhooks, Workers } from "./resources.ts";

/** All operations of the API, by resource. */
export class ApiResources {
  /** Create, follow, steer and cancel runs. A run is one task that an agent executes. */
  readonly runs: Runs;
  /** Read who changed what in a team. */
  readonly audit: Audit;
  /** Read what runs have used. */
  readonly usage: Usage;
  /** Read conversations, which span all runs that continue each other. */
  readonly conversations: Conversations;
  /** Resolve links to shared sessions. */
  readonly sessions: Sessions;
  /** Upload files for new runs. */
  readonly attachments: Attachments;
  /** Read the results of runs: plans, files, screenshots and links. */
  readonly artifacts: Artifacts;
  /** List the skills in repositories. */
  readonly agents: Agents;
  /** List the self-hosted workers of a team. */
  readonly workers: Workers;
  /** List the available models. */
  readonly models: Models;
  /** Create runs on a cron schedule. */
  readonly schedules: Schedules;
  /** Claim installations of the deployment's GitHub App. */
  readonly github: Github;
  /** Start runs by the events of other systems. */
  readonly triggers: Triggers;
  /** Manage the service accounts of a team's agents, with their keys and defaults. */
  readonly identities: Identities;
  /** Exchange tokens of other issuers for API keys. */
  readonly token: Token;
  /** Manage the repositories, setup commands and secrets of runs. */
  readonly environments: Environments;
  /** Manage personal API keys. */
  readonly keys: Keys;
  /** Sign in to the web app, and manage where one is signed in. */
  readonly webSessions: WebSessions;
  /** Read and change the caller's profile. */
  readonly me: Me;
  /** Manage teams, their members and settings. */
  readonly teams: Teams;
  /** Invite people to a team. */
  readonly invitations: Invitations;
  /** Manage the secrets of a team. Values are never returned. */
  readonly secrets: Secrets;
  /** Receive the events of runs. */
  readonly webhooks: Webhooks;
  /** Operations for the harness in a sandbox, called with the run's own key. */
  readonly harnessSupport: HarnessSupport;
  /** Verify the identity tokens of runs. */
  readonly identityIssuer: IdentityIssuer;
  /** Start and steer runs from agents and editors. */
  readonly mcp: Mcp;
  /** Read this document, the API reference and the error pages. */
  readonly documentation: Documentation;

  constructor(transport: Transport) {
    this.runs = new Runs(transport);
    this.audit = new Audit(transport);
    this.usage = new Usage(transport);
    this.conversations = new Conversations(transport);
    this.sessions = new Sessions(transport);
    this.attachments = new Attachments(transport);
    this.artifacts = new Artifacts(transport);
    this.agents = new Agents(transport);
    this.workers = new Workers(transport);
    this.models = new Models(transport);
    this.schedules = new Schedules(transport);
    this.github = new Github(transport);
    this.triggers = new Triggers(transport);
    this.identities = new Identities(transport);
    this.token = new Token(transport);
    this.environments = new Environments(transport);
    this.keys = new Keys(transport);
    this.webSessions = new WebSessions(transport);
    this.me = new Me(transport);
    this.teams = new Teams(transport);
    this.invitations = new Invitations(transport);
    this.secrets = new Secrets(transport);
    this.webhooks = new Webhooks(transport);
    this.harnessSupport = new HarnessSupport(transport);
    this.identityIssuer = new IdentityIssuer(transport);
    this.mcp = new Mcp(transport);
    this.documentation = new Documentation(transport);
  }
}
