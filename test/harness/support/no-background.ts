import type { BackgroundCommands } from "#harness/commands/background-commands.ts";

const refuse = () => new Error("this test starts no background command");

/** The background commands of an execution that starts none. */
export const NO_BACKGROUND: BackgroundCommands = {
  sharesNetwork: true,
  earlier: [],
  list: () => [],
  start: () => Promise.reject(refuse()),
  find: () => {
    throw refuse();
  },
  freeze: async () => () => {},
  close: async () => {},
};
