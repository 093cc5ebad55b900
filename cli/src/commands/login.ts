import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { APIError, type Me, type TokenResponse } from "../../../clients/typescript/src/index.ts";
import { isOnThisMachine, loginFile, tidy } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { removeFile, writePrivately } from "../files.ts";
import { defaultAudience, exchangeOidcToken, hasGithubToken, requestGithubToken } from "../oidc-token.ts";
import { Problem, usage } from "../problem.ts";
import { printFields } from "../table.ts";
import { oneLine } from "../terminal-text.ts";
import { withExamples } from "./examples.ts";

/** `runyard login`: stores address and key, once they work. */
export function loginCommand(context: Context): CommandUnknownOpts {
  const command = new Command("login")
    .description("store the base URL and your key for this user of this machine")
    .option(
      "--oidc",
      "exchange an OIDC token for a key that expires: that of the GitHub Actions job, or RUNYARD_OIDC_TOKEN",
    )
    .option("--agent <uid>", "with --oidc: the agent that the key is for")
    .option(
      "--audience <audience>",
      "with --oidc on GitHub Actions: audience of the token (default: the service's origin)",
    )
    .action(async (options) => {
      const baseURL = await askAddress(context);
      const exchanged = options.oidc === undefined ? undefined : await exchange(context, baseURL, options);
      const file = await storeLogin(context, baseURL, exchanged?.key ?? (await askKey(context)));
      const expires = exchanged === undefined ? {} : { expires_at: exchanged.expires_at };
      context.show({ base_url: baseURL, file, ...expires }, () => context.say(`Stored in ${file}.`));
      if (exchanged !== undefined) context.note(`The key is valid until ${context.timeText(exchanged.expires_at)}.`);
    });
  return withExamples(
    command,
    "runyard login",
    "runyard login --base-url https://runyard.example.com/api/v1 < key.txt",
    "runyard login --base-url https://runyard.example.com/api/v1 --oidc",
  );
}

interface OidcOptions {
  readonly agent?: string | undefined;
  readonly audience?: string | undefined;
}

/** Exchanges the OIDC token of the environment for a key. */
async function exchange(context: Context, baseURL: string, { agent, audience }: OidcOptions): Promise<TokenResponse> {
  const { env } = context.shell;
  const oidcToken = env["RUNYARD_OIDC_TOKEN"] || undefined;
  if (oidcToken === undefined && !hasGithubToken(env)) {
    throw usage(
      "There is no OIDC token.",
      "Set RUNYARD_OIDC_TOKEN, or give the job of GitHub Actions the permission id-token: write.",
    );
  }
  const token = oidcToken ?? (await requestGithubToken(env, audience ?? defaultAudience(baseURL)));
  // The exchange itself needs no key.
  return exchangeOidcToken(context.clientFor({ baseURL, apiKey: "none" }), token, agent);
}

async function askAddress(context: Context): Promise<string> {
  const address =
    context.baseURL ??
    (context.shell.env["RUNYARD_BASE_URL"] || undefined) ??
    (context.shell.canAsk ? await context.shell.ask("Address of the service (https://…/api/v1): ") : undefined);
  if (address === undefined || address.trim() === "") throw usage("The base URL is missing.", "Pass it as --base-url.");
  const url = tidy(address.trim());
  // People usually have only the host at hand.
  const whole = new URL(url).pathname === "/" ? `${url}/api/v1` : url;
  if (whole.startsWith("http:") && !isOnThisMachine(whole)) {
    context.note(context.errStyle.yellow(`${whole} is not encrypted: anyone on the network path can read your key.`));
  }
  return whole;
}

async function askKey({ shell }: Context): Promise<string> {
  const key = shell.canAsk ? await shell.ask("Your key (ryp_… or rya_…): ", { hidden: true }) : await shell.readInput();
  if (key === undefined || key.trim() === "")
    throw usage("The key is missing.", "Type it, or pipe it to standard input.");
  return key.trim();
}

/** Requests the key's owner from the service, and stores both if the key is valid; returns the file. */
export async function storeLogin(context: Context, baseURL: string, apiKey: string): Promise<string> {
  const who = await findOwner(context, baseURL, apiKey).catch((error: unknown) => {
    if (!(error instanceof APIError) || error.status !== 401) throw error;
    throw new Problem("This key is not valid. Nothing was stored.", { exitCode: EXIT.service });
  });
  const file = loginFile(context.shell);
  await writePrivately(file, { base_url: baseURL, api_key: apiKey });
  const unnamed = apiKey.startsWith("rya_")
    ? "The key belongs to an agent."
    : "The key works; it may not read whose it is.";
  context.note(who === undefined ? unnamed : `You are ${who.display_name} <${who.email}>.`);
  return file;
}

/** The person whose key it is; undefined for the key of an agent, which is no person, and for one that may not read it. */
async function findOwner(context: Context, baseURL: string, apiKey: string): Promise<Me | undefined> {
  const client = context.clientFor({ baseURL, apiKey });
  try {
    return await client.me.retrieve();
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== 403) throw error;
    if (!lacksScope(error)) {
      await client.models.list().catch((refusal: unknown) => {
        if (!lacksScope(refusal)) throw refusal;
      });
    }
    return undefined;
  }
}

/** Whether the service knows the key, and the key is limited to other scopes. */
const lacksScope = (error: unknown): boolean =>
  error instanceof APIError && error.status === 403 && error.message.includes("lacks the scope");

/** `runyard logout`: deletes what is stored. */
export function logoutCommand(context: Context): CommandUnknownOpts {
  const command = new Command("logout")
    .description("remove the stored base URL and key; the key itself stays valid")
    .action(async () => {
      const file = loginFile(context.shell);
      const isRemoved = await removeFile(file);
      context.show({ removed: isRemoved ? file : null }, () =>
        context.say(isRemoved ? `Removed ${file}.` : `Nothing is stored: there is no ${file}.`),
      );
    });
  return withExamples(command, "runyard logout");
}

/** `runyard whoami`: which service and whose key the commands use. */
export function whoamiCommand(context: Context): CommandUnknownOpts {
  const command = new Command("whoami")
    .description("show which base URL and key the commands use, and where they come from")
    .action(async () => {
      const { baseURL, apiKey, from } = await context.connection();
      const me = await findOwner(context, baseURL, apiKey);
      context.show({ base_url: baseURL, key: from, ...(me === undefined ? {} : { me }) }, () =>
        printFields(context, [
          ["address", baseURL],
          ["key", `${apiKey.slice(0, 4)}… ${from}`],
          ["person", me && `${me.display_name} <${me.email}>`],
          ["teams", me?.teams.map(({ uid, name, role }) => oneLine(`${uid}  ${name} (${role})`)).join("\n")],
        ]),
      );
    });
  return withExamples(command, "runyard whoami");
}
