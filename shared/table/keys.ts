import { digestNumber, sha256 } from "#shared/ids.ts";
import type { Key } from "./table.ts";

/**
 * Every key of the table, with the access it is for. Numbers in sort keys are padded, so that they sort as numbers.
 *
 * | item | pk | sk | read by |
 * |---|---|---|---|
 * | a run's head | RUN#run | HEAD | every request that names the run; the condition of every state transition |
 * | a run's body | RUN#run | BODY | run detail and list, resolve-prompt |
 * | timeline event | RUN#run | EVENT#sequence | timeline, events; gsi2 of the first one: runs of a creator |
 * | message batch | RUN#run | MESSAGES#sequence | conversation, events, transcript |
 * | follow-up | RUN#run | FOLLOWUP#number | heartbeat, resolve-prompt |
 * | artifact | RUN#run | ARTIFACT#uid | run detail and list |
 * | entry of a schedule's run | RUN#run | GROUP#schedule | gsi2, gsi7: runs of a schedule |
 * | snapshot of an execution | RUN#run | SNAPSHOT#execution#generation | upload-snapshot, commit-snapshot |
 * | checkpoint of a run | RUN#run | CHECKPOINT | where a new execution begins; which messages it leaves behind |
 * | what a run has spent on models, and may spend | RUN#run | BUDGET | each call of a model; run detail and list, where the head says so |
 * | what remains to be deleted of a run | RUN#run | DELETION | gsi6: deletions that have not been completed |
 * | turns of a deleted run, which a later run continues | RUN#run | TURNS | conversation by id; where a new execution begins |
 * | descendant | RUN#ancestor | DESCENDANT#run | filter by ancestor, at any depth, in the order of creation |
 * | client event seen | RUN#run | CLIENT#event | client-events, once each |
 * | notification given | RUN#run | NOTIFICATION#sha256 | notify-user, once each |
 * | latest run of a continued conversation | CONVERSATION#id | TAIL | create with conversation_id; follow-up to an ended run |
 * | raw transcript of a conversation, by a third-party harness | RUN#run; CONVERSATION#id | RAW | its uploads; where a new execution begins |
 * | run that continues a conversation | CONVERSATION#id | RUN#run | conversation by id |
 * | artifact's run | ARTIFACT#uid | RUN | artifact by uid |
 * | run that refers to a URL | REFERENCE#sha256 of owner and URL | RUN#run | run by an external reference |
 * | file that a caller uploads before its run | ATTACHMENT#uid | ATTACHMENT | create, which gives it to the run |
 * | API key | KEY#sha256 | KEY | authentication |
 * | key list of a person, of an identity | USER#user, TEAM#team | KEYS, KEYS#identity | key lists; a deletion takes all keys along |
 * | what is counted of a run's usage | RUN#run | USAGE | its end, which adds the difference |
 * | usage of an owner's runs of a day that have all else in common, counted where the counters count them | owner; TEAM#team#COUNTERS#part | USAGE#day#sha256 | usage reports |
 * | what a team's runs spend on models in a calendar month | TEAM#team | MONTH#month | each call of a model that has a price; team detail |
 * | what a limited key's runs spend in a calendar month, and the runs that it creates on its days | KEY#sha256 | MONTH#month | create with the key; each call of a model by its runs |
 * | web session of a person | USER#user | SESSION#sha256 | authentication by cookie; lists of sessions |
 * | one-time token to sign in | SIGN_IN#sha256 | SIGN_IN | signing in, once |
 * | user, with the role in each team | USER#user | PROFILE | authentication |
 * | user by an account at an OIDC issuer | OIDC#sha256 | USER | signing in with the issuer |
 * | account of a user at an OIDC issuer | USER#user | OIDC#sha256 | binding one account of an issuer |
 * | user by address | EMAIL#folded | USER | accepting an invitation: an address has one account |
 * | member | TEAM#team | MEMBER#user | member lists, on_behalf_of |
 * | team and its settings | TEAM#team | TEAM | authentication reads it along, for the defaults of runs; gsi6: teams whose runs are deleted by age |
 * | event of a team's audit log | AUDIT#team | EVENT#id | the audit log, by time, since its ids are in the order of their times |
 * | refused requests of a team in an hour | AUDIT#team | REFUSED#hour | the next refused request, whether it is recorded |
 * | identity | TEAM#team | IDENTITY#uid | authentication of agent keys, lists, runs as an identity |
 * | trust rule of an identity | TEAM#team | TRUST#identity#uid | lists; authentication of the keys that it gave |
 * | trust rule by issuer and audience | TRUST#sha256 of both | identity#uid | exchange of an OIDC token |
 * | register of identities | TEAM#team | IDENTITIES | the plan's limit: which identities are available |
 * | unique name | owner | UNIQUE#kind#folded | create and rename: one holder of a name |
 * | invitation | TEAM#team | INVITATION#id | lists |
 * | invitation by its address | EMAIL#folded | INVITATION#team#id | signing in with an OIDC issuer for the first time |
 * | invitation by its token | INVITATION#sha256 | INVITATION | accepting it |
 * | secret's name | TEAM#team | SECRET#name | lists; the value is in the vault |
 * | value of a secret, a webhook or a trigger, encrypted | VAULT#team | VALUE#id | what uses the secret, by the id in its item |
 * | webhook | TEAM#team | WEBHOOK#uid | every request that names it; the events of the team's runs |
 * | delivery of a webhook | WEBHOOK#uid | DELIVERY#sequence | lists; gsi6: what is to be attempted |
 * | delivery of a run's end to its `notify_url` | RUN#run | DELIVERY#sequence of the event | gsi6: what is to be attempted |
 * | event that a webhook has a delivery of | WEBHOOK#uid | RUN_EVENT#run#sequence | one delivery for each event |
 * | reply to the event that started a run | RUN#run | REPLY | written with the run, then by each attempt; gsi6: the attempts that are due |
 * | trigger | TRIGGER#uid | TRIGGER | every request that names it, its deliveries |
 * | trigger of a team | TEAM#team | TRIGGER#uid | lists |
 * | delivery to a trigger | TRIGGER#uid | DELIVERY#id | its outcome is written once; lists; gsi6: what is to be decided on |
 * | thread of a trigger's events | TRIGGER#uid | THREAD#digest | each event of the thread |
 * | run of a trigger | TRIGGER#uid | RUN#run | its latest runs, each time one ends |
 * | event that a trigger has received | TRIGGER#uid | RECEIVED#digest | written once, by condition: one outcome for each event |
 * | event of a team's triggers and schedules that webhooks deliver | TEAM_EVENTS#team | EVENT#id | the stream of the table |
 * | event of a team that a webhook has a delivery of | WEBHOOK#uid | TEAM_EVENT#id | one delivery for each event |
 * | mark that webhooks exist, or runs with a `notify_url` | WEBHOOKS | WEBHOOKS | events of runs, which are ignored without it |
 * | installation of the GitHub App that a team has claimed | GITHUB_INSTALLATION#id | GITHUB_INSTALLATION | each use of the App, to find the team that may use it |
 * | installation of a team | TEAM#team | GITHUB_INSTALLATION#id | lists |
 * | begun claim of an installation | GITHUB_CLAIM#sha256 | GITHUB_CLAIM | its end, once |
 * | environment, with its guests | ENVIRONMENT#uid | ENVIRONMENT | every request that names it, runs in it |
 * | environment's latest run | ENVIRONMENT#uid | LAST_RUN | environments; create notes it |
 * | environment of a scope | owner or guest | ENVIRONMENT#uid | lists |
 * | schedule | SCHEDULE#schedule | SCHEDULE | every request that names it, its firings; gsi6: what its reconciler has to look at |
 * | planned firing with its outcome | SCHEDULE#schedule | TICK#time | written once, by condition; ticks |
 * | schedule's name | owner | SCHEDULE#folded#schedule | list by name |
 * | counters; the other parts of those of a team with a high limit | owner; TEAM#team#COUNTERS#part | COUNTERS | create, dispatch, end |
 * | executions of a deployment that limits them, with the places that shards have leased | DEPLOYMENT | EXECUTIONS | dispatch and end |
 * | places of a shard that no execution has | EXECUTIONS#shard | EXECUTIONS | dispatch and end |
 * | run that waits for an execution of the deployment | DEPLOYMENT, or DEPLOYMENT#partition | WAITING#turn#time#run | the next of them gets the next execution that ends |
 * | waiting runs of an owner in that queue, and its last turn | owner | DEPLOYMENT | the turn of its next run |
 * | slots of a tree of runs, at a depth | RUN#root | TREE#depth | dispatch and end of children |
 * | run that waits for a slot | owner; RUN#root | WAITING#run; WAITING#depth#run | the oldest of them gets the next free slot |
 * | idempotency record | IDEM#principal#… | IDEM | repeated POSTs |
 * | bucket of a caller for one kind of request, for a minute | BUCKET#principal#kind | MINUTE#number | create, follow-up and new key take a token |
 * | skills of a repository, as last found | SKILLS#sha256 of URL and ref | SKILLS | list of agents |
 * | connection of a worker | TEAM#team | WORKER#host#connection | list of workers, offers |
 * | connection by its id | CONNECTION#id | CONNECTION | frames, the end of the connection |
 * | run that waits for a worker | TEAM#team | OFFER#host#run | the oldest of them is offered next |
 * | export that filled the table | IMPORT | IMPORT | import, which is repeated or refused |
 * | signing key | SIGNING | KEY#id | cursors |
 *
 * The table of live output, which has no backups, holds one kind of item:
 *
 * | item | pk | sk | read by |
 * |---|---|---|---|
 * | end of a run's live output | RUN#run | LIVE | events, with `live` |
 */
export const keys = {
  head: (run: string): Key => ({ pk: runPk(run), sk: "HEAD" }),
  body: (run: string): Key => ({ pk: runPk(run), sk: "BODY" }),
  liveTail: (run: string): Key => ({ pk: runPk(run), sk: "LIVE" }),
  event: (run: string, sequence: number): Key => ({ pk: runPk(run), sk: `EVENT#${padded(sequence)}` }),
  messages: (run: string, sequence: number): Key => ({ pk: runPk(run), sk: `MESSAGES#${padded(sequence)}` }),
  followup: (run: string, number: number): Key => ({ pk: runPk(run), sk: `FOLLOWUP#${padded(number)}` }),
  artifact: (run: string, uid: string): Key => ({ pk: runPk(run), sk: `ARTIFACT#${uid}` }),
  scheduleEntry: (run: string): Key => ({ pk: runPk(run), sk: "GROUP#schedule" }),
  snapshot: (run: string, execution: string, generation: string): Key => ({
    pk: runPk(run),
    sk: `SNAPSHOT#${execution}#${generation}`,
  }),
  checkpoint: (run: string): Key => ({ pk: runPk(run), sk: "CHECKPOINT" }),
  rawTranscript: (run: string): Key => ({ pk: runPk(run), sk: "RAW" }),
  budget: (run: string): Key => ({ pk: runPk(run), sk: "BUDGET" }),
  deletion: (run: string): Key => ({ pk: runPk(run), sk: "DELETION" }),
  turns: (run: string): Key => ({ pk: runPk(run), sk: "TURNS" }),
  descendant: (ancestor: string, run: string): Key => ({ pk: runPk(ancestor), sk: `DESCENDANT#${run}` }),
  clientEvent: (run: string, event: string): Key => ({ pk: runPk(run), sk: `CLIENT#${event}` }),
  notification: (run: string, digest: string): Key => ({ pk: runPk(run), sk: `NOTIFICATION#${digest.slice(0, 32)}` }),
  conversationTail: (conversation: string): Key => ({ pk: conversationPk(conversation), sk: "TAIL" }),
  conversationRaw: (conversation: string): Key => ({ pk: conversationPk(conversation), sk: "RAW" }),
  conversationRun: (conversation: string, run: string): Key => ({ pk: conversationPk(conversation), sk: `RUN#${run}` }),
  artifactRun: (uid: string): Key => ({ pk: `ARTIFACT#${uid}`, sk: "RUN" }),
  reference: (owner: Owner, url: string, run: string): Key => ({
    pk: `REFERENCE#${sha256(`${ownerPk(owner)}\n${url}`)}`,
    sk: `RUN#${run}`,
  }),
  upload: (uid: string): Key => ({ pk: `ATTACHMENT#${uid}`, sk: "ATTACHMENT" }),
  apiKey: (hash: string): Key => ({ pk: `KEY#${hash}`, sk: "KEY" }),
  user: (user: string): Key => ({ pk: userPk(user), sk: "PROFILE" }),
  userKeys: (user: string): Key => ({ pk: userPk(user), sk: "KEYS" }),
  runUsage: (run: string): Key => ({ pk: runPk(run), sk: "USAGE" }),
  usage: (owner: Owner, day: string, digest: string, part = 0): Key => ({
    pk: counterPk(owner, part),
    sk: `USAGE#${day}#${digest}`,
  }),
  teamMonth: (team: string, month: string): Key => ({ pk: teamPk(team), sk: `MONTH#${month}` }),
  keyMonth: (hash: string, month: string): Key => ({ pk: `KEY#${hash}`, sk: `MONTH#${month}` }),
  webSession: (user: string, hash: string): Key => ({ pk: userPk(user), sk: `SESSION#${hash}` }),
  signIn: (hash: string): Key => ({ pk: `SIGN_IN#${hash}`, sk: "SIGN_IN" }),
  oidcAccount: (issuer: string, sub: string): Key => ({ pk: `OIDC#${sha256(`${issuer}\n${sub}`)}`, sk: "USER" }),
  accountOfUser: (user: string, issuer: string): Key => ({ pk: userPk(user), sk: `OIDC#${sha256(issuer)}` }),
  userByEmail: (folded: string): Key => ({ pk: `EMAIL#${folded}`, sk: "USER" }),
  member: (team: string, user: string): Key => ({ pk: teamPk(team), sk: `MEMBER#${user}` }),
  team: (team: string): Key => ({ pk: teamPk(team), sk: "TEAM" }),
  auditEvent: (team: string, id: string): Key => ({ pk: `AUDIT#${team}`, sk: `EVENT#${id}` }),
  auditRefusals: (team: string, hour: number): Key => ({ pk: `AUDIT#${team}`, sk: `REFUSED#${hour}` }),
  identity: (team: string, uid: string): Key => ({ pk: teamPk(team), sk: `IDENTITY#${uid}` }),
  /** Sorts right before the identities, so that one query reads it and them. */
  identities: (team: string): Key => ({ pk: teamPk(team), sk: "IDENTITIES" }),
  identityKeys: (team: string, identity: string): Key => ({ pk: teamPk(team), sk: `KEYS#${identity}` }),
  trustRule: (team: string, identity: string, uid: string): Key => ({
    pk: teamPk(team),
    sk: `TRUST#${identity}#${uid}`,
  }),
  trustRuleByIssuer: (issuer: string, audience: string, identity: string, uid: string): Key => ({
    pk: `TRUST#${sha256(`${issuer}\n${audience}`)}`,
    sk: `${identity}#${uid}`,
  }),
  uniqueName: (owner: Owner, kind: string, folded: string): Key => ({
    pk: ownerPk(owner),
    sk: `UNIQUE#${kind}#${folded}`,
  }),
  invitation: (team: string, id: string): Key => ({ pk: teamPk(team), sk: `INVITATION#${id}` }),
  invitationByEmail: (folded: string, team: string, id: string): Key => ({
    pk: `EMAIL#${folded}`,
    sk: `INVITATION#${team}#${id}`,
  }),
  invitationByToken: (hash: string): Key => ({ pk: `INVITATION#${hash}`, sk: "INVITATION" }),
  secret: (team: string, name: string): Key => ({ pk: teamPk(team), sk: `SECRET#${name}` }),
  secretValue: (team: string, id: string): Key => ({ pk: `VAULT#${team}`, sk: `VALUE#${id}` }),
  webhook: (team: string, uid: string): Key => ({ pk: teamPk(team), sk: `WEBHOOK#${uid}` }),
  delivery: (webhook: string, sequence: number): Key => ({
    pk: `WEBHOOK#${webhook}`,
    sk: `DELIVERY#${padded(sequence)}`,
  }),
  runDelivery: (run: string, sequence: number): Key => ({ pk: runPk(run), sk: `DELIVERY#${padded(sequence)}` }),
  runReply: (run: string): Key => ({ pk: runPk(run), sk: "REPLY" }),
  deliveredEvent: (webhook: string, run: string, sequence: number): Key => ({
    pk: `WEBHOOK#${webhook}`,
    sk: `RUN_EVENT#${run}#${padded(sequence)}`,
  }),
  teamEvent: (team: string, id: string): Key => ({ pk: `TEAM_EVENTS#${team}`, sk: `EVENT#${id}` }),
  deliveredTeamEvent: (webhook: string, id: string): Key => ({ pk: `WEBHOOK#${webhook}`, sk: `TEAM_EVENT#${id}` }),
  trigger: (uid: string): Key => ({ pk: `TRIGGER#${uid}`, sk: "TRIGGER" }),
  triggerEntry: (owner: Owner, uid: string): Key => ({ pk: ownerPk(owner), sk: `TRIGGER#${uid}` }),
  triggerDelivery: (trigger: string, id: string): Key => ({ pk: `TRIGGER#${trigger}`, sk: `DELIVERY#${id}` }),
  triggerThread: (trigger: string, digest: string): Key => ({ pk: `TRIGGER#${trigger}`, sk: `THREAD#${digest}` }),
  triggerRun: (trigger: string, run: string): Key => ({ pk: `TRIGGER#${trigger}`, sk: `RUN#${run}` }),
  receivedEvent: (trigger: string, digest: string): Key => ({ pk: `TRIGGER#${trigger}`, sk: `RECEIVED#${digest}` }),
  githubInstallation: (id: number): Key => ({ pk: `GITHUB_INSTALLATION#${id}`, sk: "GITHUB_INSTALLATION" }),
  githubInstallationEntry: (team: string, id: number): Key => ({ pk: teamPk(team), sk: `GITHUB_INSTALLATION#${id}` }),
  githubClaim: (hash: string): Key => ({ pk: `GITHUB_CLAIM#${hash}`, sk: "GITHUB_CLAIM" }),
  webhooksExist: (): Key => ({ pk: "WEBHOOKS", sk: "WEBHOOKS" }),
  environment: (uid: string): Key => ({ pk: `ENVIRONMENT#${uid}`, sk: "ENVIRONMENT" }),
  environmentRun: (uid: string): Key => ({ pk: `ENVIRONMENT#${uid}`, sk: "LAST_RUN" }),
  environmentEntry: (scope: Owner, uid: string): Key => ({ pk: ownerPk(scope), sk: `ENVIRONMENT#${uid}` }),
  schedule: (schedule: string): Key => ({ pk: schedulePk(schedule), sk: "SCHEDULE" }),
  tick: (schedule: string, at: number): Key => ({ pk: schedulePk(schedule), sk: `TICK#${sortableTime(at)}` }),
  /** NUL sorts before every character of a name, and is in none. */
  scheduleName: (owner: Owner, folded: string, schedule: string): Key => ({
    pk: ownerPk(owner),
    sk: `SCHEDULE#${folded}\u0000${schedule}`,
  }),
  counters: (owner: Owner): Key => ({ pk: ownerPk(owner), sk: "COUNTERS" }),
  /** A part of the counters. The first one has the key of the only one of earlier releases. */
  counterPart: (owner: Owner, part = 0): Key => ({ pk: counterPk(owner, part), sk: "COUNTERS" }),
  executions: (): Key => ({ pk: "DEPLOYMENT", sk: "EXECUTIONS" }),
  executionPlaces: (shard: number): Key => ({ pk: `EXECUTIONS#${shard}`, sk: "EXECUTIONS" }),
  deploymentEntry: (entry: string): Key => {
    const { partition, sk } = parseDeploymentEntry(entry);
    return { pk: deploymentQueuePk(partition), sk };
  },
  deploymentTurn: (owner: Owner): Key => ({ pk: ownerPk(owner), sk: "DEPLOYMENT" }),
  waitingForDeployment: (partition: number, turn: number, time: number, run: string): Key => ({
    pk: deploymentQueuePk(partition),
    sk: `${DEPLOYMENT_WAITING}${padded(turn)}#${sortableTime(time)}#${run}`,
  }),
  tree: (root: string, depth: number): Key => ({ pk: runPk(root), sk: `TREE#${depth}` }),
  waitingForOwner: (owner: Owner, run: string): Key => ({ pk: ownerPk(owner), sk: `WAITING#${run}` }),
  waitingForTree: (root: string, depth: number, run: string): Key => ({
    pk: runPk(root),
    sk: `WAITING#${depth}#${run}`,
  }),
  idempotency: (principal: string, operation: string, key: string): Key => ({
    pk: `IDEM#${principal}#${operation}#${key}`,
    sk: "IDEM",
  }),
  bucket: (principal: string, kind: string, minute: number): Key => ({
    pk: `BUCKET#${principal}#${kind}`,
    sk: `MINUTE#${padded(minute)}`,
  }),
  skills: (repository: string): Key => ({ pk: `SKILLS#${repository}`, sk: "SKILLS" }),
  worker: (team: string, host: string, connection: string): Key => ({
    pk: teamPk(team),
    sk: `${workerPrefix(host)}${connection}`,
  }),
  connection: (id: string): Key => ({ pk: `CONNECTION#${id}`, sk: "CONNECTION" }),
  waitingForWorker: (team: string, host: string, run: string): Key => ({
    pk: teamPk(team),
    sk: `${offerPrefix(host)}${run}`,
  }),
  importRecord: (): Key => ({ pk: "IMPORT", sk: "IMPORT" }),
  signing: (id: string): Key => ({ pk: "SIGNING", sk: `KEY#${id}` }),
};

/** What the keys of all workers' connections begin with. */
export const WORKERS = "WORKER#";
/** What the keys of one worker's connections begin with, and those of the runs that wait for it. An id may have any characters, so its digest is used. */
export const workerPrefix = (host: string): string => `${WORKERS}${digestHost(host)}#`;
export const offerPrefix = (host: string): string => `OFFER#${digestHost(host)}#`;
const digestHost = (host: string): string => sha256(host).slice(0, 32);

const counterPk = (owner: Owner, part: number): string =>
  part === 0 ? ownerPk(owner) : `${ownerPk(owner)}#COUNTERS#${part}`;

/** What the sort keys of runs that wait for the deployment begin with. */
export const DEPLOYMENT_WAITING = "WAITING#";
/** A partition of the deployment's wait queue. The first one has the key of the only one of earlier releases. */
export const deploymentQueuePk = (partition: number): string => shardKey("DEPLOYMENT", partition);
/** Names the entry of a waiting run on its head: by its sort key in the first partition, and by the number of another one. */
export const nameDeploymentEntry = (partition: number, sk: string): string =>
  partition === 0 ? sk : `${partition}#${sk}`;
function parseDeploymentEntry(entry: string): { readonly partition: number; readonly sk: string } {
  const [, partition, sk] = /^(\d+)#(.*)$/.exec(entry) ?? [];
  return { partition: Number(partition ?? 0), sk: sk ?? entry };
}

export const runPk = (run: string): string => `RUN#${run}`;
export const conversationPk = (conversation: string): string => `CONVERSATION#${conversation}`;
export const schedulePk = (schedule: string): string => `SCHEDULE#${schedule}`;
const userPk = (user: string): string => `USER#${user}`;
export const teamPk = (team: string): string => `TEAM#${team}`;

/** Whose a run is: a team's, or one person's. */
export type Owner = { readonly type: "Team" | "User"; readonly uid: string };
export const ownerPk = (owner: Owner): string => (owner.type === "Team" ? teamPk(owner.uid) : userPk(owner.uid));

/** Shards of a scope in the list indexes. The number only grows; readers merge all of them. */
export const SCOPE_SHARDS = 1;
export const scopeKey = (owner: Owner, shard = 0): string => `${ownerPk(owner)}#${shard}`;

/** Shards of the index that the reaper reads. */
export const CHECK_SHARDS = 16;
export const checkShard = (run: string): string => `RUNS#${Number.parseInt(run.slice(-4), 16) % CHECK_SHARDS}`;

/** Shards of the index that the reconciler of schedules reads. */
export const SCHEDULE_SHARDS = 4;
export const scheduleShard = (shard: number): string => `SCHEDULES#${shard}`;
export const shardOfSchedule = (schedule: string): string =>
  scheduleShard(Number.parseInt(schedule.slice(-4), 16) % SCHEDULE_SHARDS);

/** Shards of the index that the attempts of webhooks read. The first one has the key of the only one of earlier releases. */
const DELIVERY_SHARDS = 16;
export const deliveryShards: readonly string[] = listShards("DELIVERIES", DELIVERY_SHARDS);
/** The shard of a delivery: those of one webhook, or of one run, are divided among all of them. */
export const shardOfDelivery = (webhook: string, sequence: number): string =>
  shardKey("DELIVERIES", (digestNumber(webhook) + sequence) % DELIVERY_SHARDS);

/** Shards of the index that lists the events of triggers without an outcome. The first one has the key of earlier releases. */
const EVENT_SHARDS = 4;
export const eventShards: readonly string[] = listShards("EVENTS", EVENT_SHARDS);
export const shardOfEvent = (delivery: string): string => shardKey("EVENTS", digestNumber(delivery) % EVENT_SHARDS);

/** The shards of the index that list the teams whose runs are deleted by age, and the deletions that have begun. */
export const RETENTION_SHARD = "RETENTIONS";
export const DELETION_SHARD = "DELETIONS";

/** The group of the schedules whose runs an identity carries out. */
export const schedulesOfIdentity = (identity: string): string => `SCHEDULES_OF#${identity}`;

/**
 * The runs of a scope that are active, and those that have ended, apart in the order of their updates. Each update of an active run
 * writes its part, so there are several parts; the first one has the key of the only one of earlier releases.
 */
const ACTIVE_PARTS = 4;
export const activeParts = (scope: string): readonly string[] => listShards(`${scope}#ACTIVE`, ACTIVE_PARTS);
export const activePart = (scope: string, run: string): string =>
  shardKey(`${scope}#ACTIVE`, digestNumber(run) % ACTIVE_PARTS);
export const endedPart = (scope: string): string => `${scope}#ENDED`;

/** The runs of a scope that one creator or one schedule has made. */
export const groupKey = (scope: string, kind: "creator" | "schedule", uid: string): string =>
  `${scope}#${kind.toUpperCase()}#${uid}`;

/** Milliseconds as a sortable string. */
export const sortableTime = (milliseconds: number): string => String(milliseconds).padStart(13, "0");

/** The shards of a name, the first of which has no number. */
function listShards(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, shard) => shardKey(name, shard));
}
function shardKey(name: string, shard: number): string {
  return shard === 0 ? name : `${name}#${shard}`;
}

const padded = (value: number): string => String(value).padStart(10, "0");
