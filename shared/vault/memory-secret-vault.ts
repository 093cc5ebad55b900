import type { SecretVault } from "./secret-vault.ts";

/** Creates a vault in memory, for tests. */
export function memorySecretVault(): SecretVault & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    put: async (team, id, value) => void values.set(`${team}/${id}`, value),
    async replace(team, id, value) {
      if (values.has(`${team}/${id}`)) values.set(`${team}/${id}`, value);
    },
    getAll: async (team, ids) =>
      new Map(
        ids.flatMap((id) => {
          const value = values.get(`${team}/${id}`);
          return value === undefined ? [] : [[id, value] as const];
        }),
      ),
    remove: async (team, id) => void values.delete(`${team}/${id}`),
  };
}
