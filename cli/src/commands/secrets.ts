import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { usage } from "../problem.ts";
import { printList, timeText } from "../table.ts";
import { withExamples } from "./examples.ts";

/** `runyard secrets …`: values that environments and agents refer to by name. */
export function secretsCommand(context: Context): CommandUnknownOpts {
  return new Command("secrets")
    .description("values that environments and agents refer to by name, and that are never shown")
    .addCommand(listCommand(context))
    .addCommand(setCommand(context))
    .addCommand(deleteCommand(context));
}

function listCommand(context: Context) {
  const command = new Command("list")
    .alias("ls")
    .description("the names of your team's secrets")
    .option("--all", "all of them; with --json one a line")
    .action(async ({ all }) => {
      const client = await context.client();
      await printList(
        context,
        client.secrets.list(),
        [
          { name: "name", of: ({ name }) => name },
          { name: "since", of: ({ created_at }) => timeText(created_at) },
        ],
        { all, none: "There are no secrets." },
      );
    });
  return withExamples(command, "runyard secrets list");
}

function setCommand(context: Context) {
  const command = new Command("set")
    .description("store a value; it is asked for, or read from standard input, and never part of the command line")
    .argument("<name>", "what configurations call it")
    .option("--keep-newline", "do not cut the line's end off what is read from standard input")
    .action(async (name, { keepNewline }) => {
      const value = context.shell.canAsk
        ? await context.shell.ask(`Value of ${name}: `, { hidden: true })
        : keepNewline === true
          ? await context.shell.readInput()
          : (await context.shell.readInput()).replace(/\r?\n$/, "");
      if (value === undefined || value === "") throw usage("There is no value, and nothing was stored.");
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
    .description("its value is forgotten")
    .argument("<name>", "its name")
    .action(async (name) => {
      await (await context.client()).secrets.delete(name);
      context.show({ deleted: name }, () => context.say("deleted"));
    });
  return withExamples(command, "runyard secrets delete NPM_TOKEN");
}
