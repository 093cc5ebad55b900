/** How the provider of a model is called. */
export interface Provider {
  /** Address before `/v1`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ProviderChoice {
  /** An id of the models list, such as `anthropic/claude-sonnet-5-5`. */
  readonly model: string;
  /** In place of the provider's own address; a server that speaks OpenAI's API has none. */
  readonly url?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const KNOWN: Readonly<Record<string, { readonly url?: string; readonly key: string }>> = {
  anthropic: { url: "https://api.anthropic.com", key: "ANTHROPIC_API_KEY" },
  openai: { url: "https://api.openai.com", key: "OPENAI_API_KEY" },
  compatible: { key: "COMPATIBLE_API_KEY" },
};

/** @throws Error that says what is missing and what to do about it */
export function chooseProvider({ model, url, environment }: ProviderChoice): Provider {
  const [name = "", rest] = model.split("/", 2);
  const known = KNOWN[name];
  if (known === undefined || !rest)
    throw new Error(`--model must begin with ${Object.keys(KNOWN).join("/, ")}/ and name a model, not be "${model}"`);
  const address = url ?? known.url;
  if (address === undefined) throw new Error(`a ${name} model needs --url, such as --url http://127.0.0.1:11434`);
  const key = environment[known.key];
  if (!key && name !== "compatible")
    throw new Error(
      `${known.key} is not set: export a key of the provider, which pays for the calls, and run this again`,
    );
  const headers = name === "anthropic" ? { "x-api-key": key ?? "" } : key ? { authorization: `Bearer ${key}` } : {};
  return { url: address.replace(/\/+$/, ""), headers };
}
