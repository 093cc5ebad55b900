import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { TrustRuleItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { agentUid } from "../names.ts";
import { listScopes, parseNumber, SCOPE_TEXT, scopes } from "../options.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";

const AGENT = "agent uid or name";
const RULE = "uid of the trust rule";
const GITHUB =
  "--issuer https://token.actions.githubusercontent.com --audience https://runyard.example.com --subject repo:acme/shop:ref:refs/heads/main";

/** `runyard agents trust-rules …`: which OIDC tokens are exchanged for keys of a team agent. */
export function trustRulesCommand(context: Context): CommandUnknownOpts {
  return new Command("trust-rules")
    .description("manage which OIDC tokens, such as those of CI jobs, give keys of an agent")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(deleteCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the trust rules of an agent")
    .argument("<agent>", AGENT)
    .option("--all", "list all; with --json, print one per line")
    .action(async (given, { all }) => {
      const client = await context.client();
      await printList(
        context,
        client.identities.trustRules.list(await agentUid(client, given)),
        [
          { name: "uid", of: ({ uid }) => uid },
          { name: "seconds", of: ({ ttl_seconds }) => ttl_seconds },
          { name: "scopes", of: (rule) => listScopes(rule.scopes) },
          { name: "budget", of: ({ max_budget_usd }) => max_budget_usd ?? "" },
          { name: "issuer", of: ({ issuer }) => issuer },
          { name: "audience", of: ({ audience }) => audience },
          { name: "subject", of: ({ subject_pattern }) => subject_pattern },
        ],
        { all, none: "There are no trust rules." },
      );
    });
  return withExamples(command, "runyard agents trust-rules list release-bot");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show a trust rule")
    .argument("<agent>", AGENT)
    .argument("<uid>", RULE)
    .action(async (given, uid) => {
      const client = await context.client();
      printRule(context, await client.identities.trustRules.retrieve(await agentUid(client, given), uid));
    });
  return withExamples(command, "runyard agents trust-rules get release-bot $uid");
}

function printRule(context: Context, rule: TrustRuleItem): void {
  context.show(rule, () =>
    printFields(context, [
      ["uid", rule.uid],
      ["issuer", rule.issuer],
      ["audience", rule.audience],
      ["subject", rule.subject_pattern],
      ["seconds", rule.ttl_seconds],
      ["budget", rule.max_budget_usd],
      ["scopes", listScopes(rule.scopes)],
      ["saved by", rule.saved_by.display_name ?? rule.saved_by.uid],
    ]),
  );
}

/** All members of a rule. */
function commandWithRule(name: string) {
  return new Command(name)
    .requiredOption("--issuer <url>", "issuer of the tokens, exactly as in their iss claim")
    .requiredOption("--audience <audience>", "value that the aud claim must have")
    .requiredOption("--subject <pattern>", "sub claim; each * stands for any text")
    .option("--max-budget <usd>", "most that each run of the keys may have as its budget", parseNumber)
    .option("--scope <scope>", SCOPE_TEXT.replace("the key", "its keys"), scopes)
    .option("--ttl <seconds>", "seconds for which the keys are valid, at most 3600 (default: 3600)", parseNumber);
}

type RuleOptions = ReturnType<ReturnType<typeof commandWithRule>["opts"]>;

const toBody = ({ issuer, audience, subject, maxBudget, scope, ttl }: RuleOptions) =>
  defined({ issuer, audience, subject_pattern: subject, max_budget_usd: maxBudget, scopes: scope, ttl_seconds: ttl });

function createCommand(context: Context) {
  const command = commandWithRule("create")
    .description("accept the tokens of an issuer for keys of an agent")
    .argument("<agent>", AGENT)
    .action(async (given, options) => {
      const client = await context.client();
      printRule(context, await client.identities.trustRules.create(await agentUid(client, given), toBody(options)));
    });
  return withExamples(command, `runyard agents trust-rules create release-bot ${GITHUB}`);
}

function updateCommand(context: Context) {
  const command = commandWithRule("update")
    .description("replace a trust rule; omitted options get their defaults")
    .argument("<agent>", AGENT)
    .argument("<uid>", RULE)
    .action(async (given, uid, options) => {
      const client = await context.client();
      const identity = await agentUid(client, given);
      printRule(context, await client.identities.trustRules.update(identity, uid, toBody(options)));
    });
  return withExamples(command, `runyard agents trust-rules update release-bot $uid ${GITHUB}`);
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete a trust rule with its keys, effective immediately")
    .argument("<agent>", AGENT)
    .argument("<uid>", RULE)
    .action(async (given, uid) => {
      const client = await context.client();
      await client.identities.trustRules.delete(await agentUid(client, given), uid);
      context.show({ deleted: uid }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard agents trust-rules delete release-bot $uid");
}
