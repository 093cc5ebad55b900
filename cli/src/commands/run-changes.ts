import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Command } from "@commander-js/extra-typings";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import {
  type Changes,
  describeChanges,
  downloadPatch,
  listChanges,
  parseFileStats,
  selectChanges,
} from "../changes/changes.ts";
import { fetchDefaultBranch, openPullRequest } from "../changes/github.ts";
import { formatBody, formatTitle } from "../changes/pull-request-text.ts";
import { pushPatch } from "../changes/push-patch.ts";
import type { Context } from "../context.ts";
import { paintDiffLine } from "../follow/diff-line.ts";
import { Problem, usage } from "../problem.ts";
import { printable } from "../terminal-text.ts";
import { withExamples } from "./examples.ts";

export function diffCommand(context: Context) {
  const command = new Command("diff")
    .description("print what a run changed in its repositories, as a patch")
    .argument("<run>", "run id")
    .option("--repo <path>", "only the repository at this path in the workspace")
    .option("--stat", "print the changed files with their numbers of lines")
    .option("-o, --output <file>", "output file (default: standard output)")
    .action(async (id, { repo, stat, output }) => {
      const client = await context.client();
      const all = listChanges(await client.runs.retrieve(id));
      const changes = repo === undefined && output === undefined ? all : [selectChanges(all, repo)];
      if (context.json)
        context.printJson(changes.map(({ artifactUid, git }) => ({ artifact_uid: artifactUid, ...git })));
      else if (changes.length === 0) context.note("The run has changed no repository.");
      if (context.json) return;
      for (const change of changes) {
        const patch = await downloadPatch(client, change);
        if (output !== undefined) await writeFile(path.resolve(context.shell.cwd, output), patch);
        else if (stat === true) printStat(context, change, patch);
        else printPatch(context, change, patch);
      }
    });
  return withExamples(
    command,
    "runyard runs diff $id",
    "runyard runs diff $id --stat",
    "runyard runs diff $id | git apply",
  );
}

function printPatch(context: Context, { git }: Changes, patch: Buffer): void {
  // A pipe gets the bytes, so that git can apply them; a terminal would obey them.
  if (!context.shell.outIsTerminal) {
    context.shell.out(patch);
    return;
  }
  const text = patch.toString("utf8").replace(/^GIT binary patch\n(?:.+\n)+\n(?:.+\n)*/gm, "(binary)\n");
  for (const line of printable(text).trimEnd().split("\n")) context.say(paintDiffLine(line, context.style));
  context.note(context.errStyle.dim(`${git.path}: ${describeChanges(git)}`));
}

function printStat(context: Context, { git }: Changes, patch: Buffer): void {
  const { style } = context;
  const files = parseFileStats(patch.toString("utf8"));
  const width = Math.min(80, Math.max(0, ...files.map(({ name }) => printable(name).length)));
  for (const { name, insertions, deletions, isBinary } of files) {
    const counts = isBinary ? "binary" : `${style.green(`+${insertions}`)} ${style.red(`−${deletions}`)}`;
    context.say(`${printable(name).padEnd(width)}  ${counts}`);
  }
  context.say(style.dim(`${git.path}: ${describeChanges(git)}`));
}

export function openPrCommand(context: Context) {
  const command = new Command("open-pr")
    .description("push what a run changed as a new branch, and open a pull request on GitHub with your own token")
    .argument("<run>", "run id")
    .option("--repo <path>", "the repository at this path in the workspace, if the run changed several")
    .option("--branch <name>", "new branch (default: runyard/ and the run id)")
    .option("--base <branch>", "branch to merge into (default: the repository's default branch)")
    .option("--title <text>", "title (default: the title of the run)")
    .option("--body <text>", "text in Markdown (default: the run and its final message)")
    .option("--draft", "open it as a draft")
    .option("--allow-workflows", "accept changes of the workflows of GitHub Actions")
    .option("--remote <url>", "Git URL to clone from and push to (default: the run's repository)")
    .option("--github-api <url>", "base URL of the API (default: GITHUB_API_URL, else https://api.github.com)")
    .action(async (id, options) => {
      const token = context.shell.env["GH_TOKEN"] || context.shell.env["GITHUB_TOKEN"] || "";
      if (token === "")
        throw usage("There is no GitHub token.", "Set GH_TOKEN to one that may write to contents and pull requests.");
      const client = await context.client();
      const run = await client.runs.retrieve(id);
      const change = selectChanges(listChanges(run), options.repo);
      if (change.git.redacted === true) context.note("Secrets are redacted in the patch: check the lines with ***.");
      const place = { ...resolvePlace(context, run, change, options), token };
      const base = options.base ?? (await fetchDefaultBranch(place));
      const branch = options.branch ?? `runyard/${run.run_id}`;
      const title = options.title ?? formatTitle(run);
      const body = options.body ?? formatBody(run, change.git, (await client.runs.response(id)).text);
      const commit = await pushPatch({
        remote: place.remote,
        token,
        env: context.shell.env,
        baseCommit: change.git.base_commit,
        patch: await downloadPatch(client, change),
        branch,
        message: `${title}\n\nRunyard-Run: ${run.run_id}\n`,
        allowWorkflows: options.allowWorkflows === true,
      });
      const url = await openPullRequest(place, { title, head: branch, base, body, draft: options.draft === true });
      context.show({ url, branch, commit, base }, () => context.say(url));
    });
  return withExamples(
    command,
    "GH_TOKEN=$(gh auth token) runyard runs open-pr $id",
    'runyard runs open-pr $id --title "Fix the rounding of totals" --draft',
  );
}

interface PlaceOptions {
  readonly remote?: string | undefined;
  readonly githubApi?: string | undefined;
}

/** Where the pull request is opened. The repository comes from the run's configuration, never from what the sandbox reported. */
function resolvePlace({ shell }: Context, run: RunItem, { git }: Changes, { remote, githubApi }: PlaceOptions) {
  const repository = (run.agent_config?.repositories ?? []).find(
    ({ path: place, url }) => (place ?? parseSegments(url).name) === git.path,
  );
  if (repository === undefined) throw new Problem(`The run's configuration has no repository at ${git.path}.`);
  const { owner, name } = parseSegments(repository.url);
  const server = shell.env["GITHUB_SERVER_URL"] ?? "https://github.com";
  const isExplicit = remote !== undefined && githubApi !== undefined;
  // The token is for this server, so no other host may get it.
  if (!isExplicit && parseHost(remote ?? repository.url) !== parseHost(server)) {
    throw usage(
      `${remote ?? repository.url} is not on ${server}.`,
      "Set GITHUB_SERVER_URL and GITHUB_API_URL for another GitHub server, or pass both --remote and --github-api.",
    );
  }
  const apiUrl = githubApi ?? shell.env["GITHUB_API_URL"] ?? "https://api.github.com";
  return { owner, name, apiUrl: apiUrl.replace(/\/+$/, ""), remote: remote ?? `${server}/${owner}/${name}.git` };
}

function parseHost(url: string): string | undefined {
  return URL.parse(url)?.host ?? /^[\w.-]+@([\w.-]+):/.exec(url)?.[1];
}

/** The last two segments of a repository's URL. */
function parseSegments(url: string): { owner: string; name: string } {
  const segments = url
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split(/[/:]/);
  return { owner: segments.at(-2) ?? "", name: segments.at(-1) ?? "" };
}
