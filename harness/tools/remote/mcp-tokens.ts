import type { InjectedSecret } from "#shared/wire/secrets/injected-secret.ts";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { listReferences, type Values } from "./mcp-settings.ts";
import type { OutwardFetch } from "./outward-fetch.ts";

/** The values of a run that MCP servers use; the tokens among them may be renewed. */
export interface ServerValues {
  /** The current secrets and variables, by name. */
  readonly current: () => Values;
  /** Renews tokens that a server has refused. Returns whether there are new ones. */
  renew(names: readonly string[]): Promise<boolean>;
  /** Why a token was not renewed, and what to do. */
  findProblem(name: string): string | undefined;
}

/** Values of which none is a token that the service renews. */
export const fixedValues = (values: Values): ServerValues => ({
  current: () => values,
  renew: async () => false,
  findProblem: () => undefined,
});

interface TokenOptions {
  readonly plane: Pick<ControlPlane, "renewSecrets">;
  readonly redactor: Redactor;
  /** As the execution got them. */
  readonly secrets: readonly InjectedSecret[];
  readonly values: Values;
}

/** Values whose tokens the service renews; a token that several connections use is renewed once. */
export function renewableValues({ plane, redactor, secrets, values }: TokenOptions): ServerValues {
  let current = values;
  let known = new Map(secrets.map((secret) => [secret.name, secret]));
  const pending = new Map<string, Promise<boolean>>();
  const isRenewable = (name: string) => {
    const secret = known.get(name);
    return secret !== undefined && "value" in secret && secret.renewable === true;
  };
  const renew = async (names: readonly string[]): Promise<boolean> => {
    const before = current;
    // An execution that may not go on learns so elsewhere.
    const renewed = await plane.renewSecrets(names).catch(() => []);
    known = new Map([...known, ...renewed.map((secret) => [secret.name, secret] as const)]);
    for (const secret of renewed) {
      if (!("value" in secret)) continue;
      redactor.add(secret.value);
      current = { ...current, [secret.name]: secret.value };
    }
    return names.some((name) => before[name] !== current[name]);
  };
  return {
    current: () => current,
    async renew(names) {
      const renewable = names.filter(isRenewable);
      if (renewable.length === 0) return false;
      const key = renewable.join(" ");
      const work = pending.get(key) ?? renew(renewable).finally(() => pending.delete(key));
      pending.set(key, work);
      return await work;
    },
    findProblem(name) {
      const secret = known.get(name);
      return secret !== undefined && "value" in secret ? secret.problem : undefined;
    },
  };
}

/**
 * Sends requests with headers as they are written, and sends a request again if it is refused (401) and its token can be renewed: a server
 * carries out nothing that it refuses.
 * @param expand replaces the references of the written headers by their current values
 */
export function fetchWithTokens(
  fetch: OutwardFetch,
  written: Readonly<Record<string, string>>,
  values: ServerValues,
  expand: () => Readonly<Record<string, string>>,
): OutwardFetch {
  const names = [...new Set(Object.values(written).flatMap(listReferences))];
  if (names.length === 0) return fetch;
  return async (url, init) => {
    const send = async () => {
      const used = values.current();
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(expand())) headers.set(name, value);
      return { used, response: await fetch(url, { ...init, headers }) };
    };
    const { used, response } = await send();
    if (response.status !== 401) return response;
    // Another request may have renewed it meanwhile.
    const isNew = names.some((name) => used[name] !== values.current()[name]) || (await values.renew(names));
    if (!isNew) return response;
    await response.body?.cancel();
    return (await send()).response;
  };
}
