import { Argument, Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { memberUid, teamUid } from "../names.ts";
import { printList } from "../table.ts";
import { withExamples } from "./examples.ts";

const TEAM = "team uid or name";
const MEMBER = "uid or email address of the member";
const ROLES = ["admin", "member"] as const;

/** `runyard teams members …`: the people of a team. */
export function membersCommand(context: Context): CommandUnknownOpts {
  const list = new Command("list")
    .alias("ls")
    .description("list the members of a team")
    .argument("<team>", TEAM)
    .option("--all", "list all; with --json, print one per line")
    .action(async (given, { all }) => {
      const client = await context.client();
      await printList(
        context,
        client.teams.members.list(await teamUid(client, given)),
        [
          { name: "uid", of: ({ uid }) => uid },
          { name: "role", of: ({ role }) => role },
          { name: "email", of: ({ email }) => email },
          { name: "name", of: ({ display_name }) => display_name },
        ],
        { all, none: "There are no members." },
      );
    });
  const update = new Command("update")
    .description("change the role of a member")
    .argument("<team>", TEAM)
    .argument("<member>", MEMBER)
    .addArgument(new Argument("<role>", "new role").choices(ROLES))
    .action(async (given, who, role) => {
      const client = await context.client();
      const team = await teamUid(client, given);
      const member = await client.teams.members.update(team, await memberUid(client, team, who), { role });
      context.show(member, () => context.say(`${member.email} is ${member.role}`));
    });
  const remove = new Command("remove")
    .description("remove a member from a team, and delete the agent keys that the member created")
    .argument("<team>", TEAM)
    .argument("<member>", MEMBER)
    .option("--keep-keys", "keep the agent keys")
    .action(async (given, who, { keepKeys }) => {
      const client = await context.client();
      const team = await teamUid(client, given);
      const query = defined({ keep_keys: keepKeys });
      const removed = await client.teams.members.remove(team, await memberUid(client, team, who), query);
      context.show(removed, () => context.say(`removed, with ${removed.revoked_keys.length} agent keys`));
    });
  return new Command("members")
    .description("manage the members of a team")
    .addCommand(withExamples(list, "runyard teams members list Core"))
    .addCommand(withExamples(update, "runyard teams members update Core ada@example.com admin"))
    .addCommand(withExamples(remove, "runyard teams members remove Core ada@example.com"));
}

/** `runyard teams invitations …`: how people become members. */
export function invitationsCommand(context: Context): CommandUnknownOpts {
  const list = new Command("list")
    .alias("ls")
    .description("list the open invitations of a team, without their links")
    .argument("<team>", TEAM)
    .option("--all", "list all; with --json, print one per line")
    .action(async (given, { all }) => {
      const client = await context.client();
      await printList(
        context,
        client.teams.invitations.list(await teamUid(client, given)),
        [
          { name: "id", of: ({ id }) => id },
          { name: "role", of: ({ role }) => role },
          { name: "expires", of: ({ expires_at }) => context.timeText(expires_at) },
          { name: "email", of: ({ email }) => email },
        ],
        { all, none: "There are no invitations." },
      );
    });
  const create = new Command("create")
    .description("invite a person, and print the link to send them; it is shown only once")
    .argument("<team>", TEAM)
    .argument("<email>", "email address of the person")
    .addOption(new Option("--role <role>", "role in the team (default: member)").choices(ROLES))
    .action(async (given, email, { role }) => {
      const client = await context.client();
      const invitation = await client.teams.invitations.create(await teamUid(client, given), defined({ email, role }));
      context.show(invitation, () => {
        context.say(invitation.link);
        context.note(
          context.errStyle.dim(`Send ${email} the link: it is shown only once. Its id is ${invitation.id}.`),
        );
      });
    });
  const remove = new Command("delete")
    .description("revoke an invitation, effective immediately")
    .argument("<team>", TEAM)
    .argument("<id>", "id of the invitation")
    .action(async (given, id) => {
      const client = await context.client();
      await client.teams.invitations.delete(await teamUid(client, given), id);
      context.show({ deleted: id }, () => context.say("deleted"));
    });
  return new Command("invitations")
    .description("manage the invitations to a team")
    .addCommand(withExamples(list, "runyard teams invitations list Core"))
    .addCommand(withExamples(create, "runyard teams invitations create Core ada@example.com --role admin"))
    .addCommand(withExamples(remove, "runyard teams invitations delete Core $id"));
}
