import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { usage } from "../problem.ts";
import { printFields, printList } from "../table.ts";
import { withExamples } from "./examples.ts";

/** `runyard secrets …`: values that environments and agents refer to by name. */
export function secretsCommand(context: Context): CommandUnknownOpts {
  return new Command("secrets")
    .description("manage secrets: values that environments and agents refer to by name, and that are never shown")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(setCommand(context))
    .addCommand(deleteCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("list the names of your team's secrets")
    .option("--all", "list all; with --json, print one per line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.secrets.list(),
        [
          { name: "name", of: ({ name }) => name },
          { name: "since", of: ({ created_at }) => context.timeText(created_at) },
          { name: "problem", of: ({ renewal }) => renewal?.refusal },
        ],
        { all, none: "There are no secrets." },
      );
    });
  return withExamples(command, "runyard secrets list");
}

function getCommand(context: Context) {
  const command = new Command("get")
    .description("show when a secret was stored, and how its token is renewed; its value is never shown")
    .argument("<name>", "name of the secret")
    .action(async (given) => {
      const secret = await (await context.client()).secrets.retrieve(given);
      context.show(secret, () =>
        printFields(context, [
          ["name", secret.name],
          ["since", context.timeText(secret.created_at)],
          ["renewed", context.timeText(secret.renewal?.renewed_at)],
          ["expires", context.timeText(secret.renewal?.expires_at)],
          ["problem", secret.renewal?.refusal],
        ]),
      );
    });
  return withExamples(command, "runyard secrets get NPM_TOKEN");
}

function setCommand(context: Context) {
  const command = new Command("set")
    .description("store a value, read from a prompt or standard input and never from the command line")
    .argument("<name>", "name by which environments and agents refer to it")
    .option("--keep-newline", "keep the trailing newline of standard input")
    .action(async (name, { keepNewline }) => {
      const value = context.shell.canAsk
        ? await context.shell.ask(`Value of ${name}: `, { hidden: true })
        : keepNewline === true
          ? await context.shell.readInput()
          : (await context.shell.readInput()).replace(/\r?\n$/, "");
      if (value === undefined || value === "") throw usage("The value is empty. Nothing was stored.");
      const secret = await (await context.client()).secrets.create({ name, value });
      context.show(secret, () => context.say(`${secret.name} is stored`));
    });
  return withExamples(
    command,
    "runyard secrets set NPM_TOKEN",
    "runyard secrets set DEPLOY_KEY --keep-newline < id_ed25519",
  );
}

function deleteCommand(context: Context) {
  const command = new Command("delete")
    .description("delete a secret and its value")
    .argument("<name>", "name of the secret")
    .action(async (name) => {
      await (await context.client()).secrets.delete(name);
      context.show({ deleted: name }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard secrets delete NPM_TOKEN");
}
