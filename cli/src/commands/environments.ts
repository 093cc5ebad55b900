import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { EnvironmentItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { followCreated } from "../follow/follow.ts";
import { environmentUid } from "../names.ts";
import { pairs, repeated, wholeNumber } from "../options.ts";
import { usage } from "../problem.ts";
import { parseRepository } from "../run-config.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";
import { interruptOption } from "./run.ts";

/** `runyard environments …`: repositories and set-up that runs begin with. */
export function environmentsCommand(context: Context): CommandUnknownOpts {
  return new Command("environments")
    .alias("envs")
    .description("manage environments: the repositories and setup of runs")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(tryCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(shareCommand(context))
    .addCommand(unshareCommand(context));
}

const ENVIRONMENT = "environment uid or name";

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the environments that you own or that are shared with you")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.environments.list(),
        [
          { name: "uid", of: ({ uid }) => uid },
          { name: "updated", of: ({ last_updated }) => context.timeText(last_updated) },
          { name: "set-up", of: ({ setup_failed }) => (setup_failed ? "failed" : "ok") },
          { name: "name", of: ({ config }) => config.name },
        ],
        { all, none: "There are no environments." },
      );
    });
  return withExamples(command, "runyard environments list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show an environment")
    .argument("<environment>", ENVIRONMENT)
    .action(async (given) => {
      const client = await context.client();
      const item = await client.environments.retrieve(await environmentUid(client, given));
      context.show(item, () => printEnvironment(context, item));
    });
  return withExamples(command, "runyard environments get backend");
}

function printEnvironment(context: Context, { uid, config, ...item }: EnvironmentItem): void {
  const github = config.github_repos.map(({ owner, repo }) => `${owner}/${repo}`);
  const others = (config.repositories ?? []).map(formatRepository);
  printFields(context, [
    ["uid", uid],
    ["name", config.name],
    ["description", config.description],
    ["image", config.docker_image],
    ["worker", config.worker_host],
    ["repositories", [...new Set([...others, ...github])].join("\n") || undefined],
    ["set-up", config.setup_commands.join("\n") || undefined],
    ["variables", formatVariables(config.variables)],
    ["commit author", config.commit_author],
    ["AWS role", config.providers?.aws?.role_arn],
    ["Google Cloud project", config.providers?.gcp?.project_number],
    ["network", config.network && formatNetwork(config.network)],
    ["secrets", config.secrets?.map(({ name }) => name).join("\n")],
    ["set-up failed", item.setup_failed],
    ["set-up snapshot", item.setup_snapshot && formatSnapshot(context, item.setup_snapshot)],
    ["updated", context.timeText(item.last_updated)],
    ["last run", context.timeText(item.last_task_run_timestamp)],
  ]);
}

const formatSnapshot = (
  context: Context,
  { created_at, size_bytes, run_id }: NonNullable<EnvironmentItem["setup_snapshot"]>,
): string => `${context.timeText(created_at)}, ${Math.ceil(size_bytes / 1_000_000)} MB, by run ${run_id}`;

type RepositoryItem = NonNullable<EnvironmentItem["config"]["repositories"]>[number];

function formatRepository({ url, ref, depth, submodules, lfs, sparse_paths: paths }: RepositoryItem): string {
  const how = [
    ...(depth === undefined ? [] : [`depth ${depth}`]),
    ...(submodules === true ? ["submodules"] : []),
    ...(lfs === true ? ["lfs"] : []),
    ...(paths === undefined ? [] : [`only ${paths.join(", ")}`]),
  ].join("; ");
  return `${url}${ref === undefined ? "" : `#${ref}`}${how === "" ? "" : ` (${how})`}`;
}

/** What an environment consists of. On an update, an empty text clears a member. */
function commandWithMembers(name: string) {
  return new Command(name)
    .option("--description <text>", "description of its purpose")
    .option("--repo <url>", "repository, `URL#ref` for a branch, tag or commit; repeatable", repeated)
    .option("--depth <commits>", "number of commits to clone of each --repo", wholeNumber(1, 1_000_000))
    .option("--submodules", "clone the submodules of each --repo")
    .option("--lfs", "download the files of each --repo in Git LFS")
    .option("--sparse <directory>", "directory to check out of each --repo; repeatable", repeated)
    .option("--setup <command>", "command to run before the agent starts; repeatable", repeated)
    .option("--variable <name=value>", "plain variable of its commands; repeatable", variable)
    .option(
      "--aws-role <arn>",
      "AWS role that its commands assume with the identity of their run; replaces its cloud providers",
    )
    .addOption(
      new Option("--network <mode>", "what its commands may call").choices(["open", "allowlist", "none"] as const),
    )
    .option("--allow-domain <domain>", "domain, wildcard or preset of the network allowlist; repeatable", repeated)
    .option("--commit-author <name-and-email>", "author of commits, such as `Build Bot <bot@example.com>`")
    .option("--secret <name>", "secret that its runs receive; repeatable", repeated)
    .option("--image <image>", "container image to run in")
    .option("--worker <id>", "self-hosted worker of its runs");
}

type Members = ReturnType<ReturnType<typeof commandWithMembers>["opts"]>;

const buildBody = ({
  description,
  repo,
  setup,
  secret,
  variable: variables,
  awsRole,
  commitAuthor: commit_author,
  image,
  worker,
  ...more
}: Members) => ({
  description,
  docker_image: image,
  worker_host: worker,
  repositories: buildRepositories(repo, more),
  setup_commands: dropEmpty(setup),
  variables,
  providers: buildProviders(awsRole),
  commit_author,
  network: buildNetwork(more),
  secrets: dropEmpty(secret)?.map((name) => ({ name })),
});

function buildProviders(awsRole: string | undefined) {
  if (awsRole === undefined) return undefined;
  return awsRole === "" ? {} : { aws: { role_arn: awsRole } };
}

/** The network; a domain alone means an allowlist. */
function buildNetwork({ network, allowDomain: domains }: Pick<Members, "network" | "allowDomain">) {
  const mode = network ?? (domains === undefined ? undefined : "allowlist");
  return mode === undefined ? undefined : defined({ mode, domains });
}

const formatNetwork = ({ mode, domains = [] }: NonNullable<EnvironmentItem["config"]["network"]>): string =>
  [mode, ...domains].join("\n");

/** Collects `name=value`; an empty text alone clears all. */
const variable = (text: string, earlier?: Readonly<Record<string, string>>): Record<string, string> =>
  text === "" ? { ...earlier } : pairs(text, earlier);

const formatVariables = (variables: Readonly<Record<string, string>> = {}): string | undefined =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n") || undefined;

/** The repositories, each cloned in the same way. */
function buildRepositories(
  repo: readonly string[] | undefined,
  { depth, submodules, lfs, sparse }: Pick<Members, "depth" | "submodules" | "lfs" | "sparse">,
) {
  const how = defined({ depth, submodules, lfs, sparse_paths: sparse });
  if (repo === undefined && Object.keys(how).length > 0)
    throw usage("--depth, --submodules, --lfs and --sparse require the repositories, as --repo.");
  return dropEmpty(repo)?.map((text) => ({ ...parseRepository(text), ...how }));
}

const dropEmpty = (given: readonly string[] | undefined) => given?.filter((item) => item !== "");

function createCommand(context: Context) {
  const command = commandWithMembers("create")
    .description("create an environment")
    .argument("<name>", "name")
    .option("--personal", "make it visible only to you, not to your team")
    .action(async (name, { personal, ...members }) => {
      const client = await context.client();
      const team = personal === true ? false : undefined;
      const item = await client.environments.create(defined({ name, team, ...buildBody(members) }));
      context.show(item, () => printEnvironment(context, item));
    });
  return withExamples(
    command,
    'runyard environments create backend --repo https://github.com/acme/shop --setup "npm ci" --secret NPM_TOKEN',
  );
}

function updateCommand(context: Context) {
  const command = commandWithMembers("update")
    .description('update an environment; omitted options keep their value, "" clears it')
    .argument("<environment>", ENVIRONMENT)
    .option("--name <name>", "new name")
    .action(async (given, { name, ...members }) => {
      const client = await context.client();
      const uid = await environmentUid(client, given);
      const item = await client.environments.update(uid, defined({ name, ...buildBody(members) }));
      context.show(item, () => printEnvironment(context, item));
    });
  return withExamples(command, 'runyard environments update backend --setup "npm ci" --setup "npm run build"');
}

function tryCommand(context: Context) {
  const command = new Command("try")
    .description("start a run that only sets up an environment; on one machine, later runs start with what it made")
    .argument("<environment>", ENVIRONMENT)
    .option("-f, --follow", "print events until the run ends; the exit code is its outcome")
    .option("--verbose", "with --follow: print the full output of commands")
    .addOption(interruptOption())
    .action(async (given, options) => {
      const client = await context.client();
      const created = await client.environments.tryOut(await environmentUid(client, given));
      if (options.follow === true) return followCreated(context, client, created.run_id, options);
      context.show(created, () => context.say(created.run_id));
    });
  return withExamples(command, "runyard environments try backend --follow");
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete an environment; runs that still refer to it are rejected")
    .argument("<environment>", ENVIRONMENT)
    .action(async (given) => {
      const client = await context.client();
      const uid = await environmentUid(client, given);
      await client.environments.delete(uid);
      context.show({ deleted: uid }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard environments delete backend");
}

function shareCommand(context: Context) {
  const command = new Command("share")
    .description("share an environment with a user, or without --user through a link")
    .argument("<environment>", ENVIRONMENT)
    .option("--user <uid>", "user to share it with")
    .action(async (given, { user }) => {
      const client = await context.client();
      const body = user === undefined ? ({ link: true } as const) : { user_uid: user };
      const shared = await client.environments.share(await environmentUid(client, given), body);
      context.show(shared, () => context.say(shared.link ?? "shared"));
    });
  return withExamples(command, "runyard environments share backend --user $uid");
}

function unshareCommand(context: Context) {
  const command = new Command("unshare")
    .description("stop sharing an environment with a user, or without --user revoke its link")
    .argument("<environment>", ENVIRONMENT)
    .option("--user <uid>", "user to share it with")
    .action(async (given, { user }) => {
      const client = await context.client();
      const body = user === undefined ? ({ link: true } as const) : { user_uid: user };
      const response = await client.environments.unshare(await environmentUid(client, given), body);
      context.show(response, () => context.say("no longer shared"));
    });
  return withExamples(command, "runyard environments unshare backend --user $uid");
}
