import { readDocument } from "./document.ts";
import { emitApiPage } from "./emit-api-page.ts";
import { emitClient } from "./emit-client.ts";
import { emitLists } from "./emit-lists.ts";
import { emitResources } from "./emit-resources.ts";
import { emitTypes } from "./emit-types.ts";
import { clientMethods } from "./methods.ts";

/** Returns the text of every generated file, by its path in the package. */
export async function generate(): Promise<Readonly<Record<string, string>>> {
  const document = readDocument();
  const { methods, named } = clientMethods(document);
  return {
    "src/generated/types.ts": await emitTypes(document, named),
    ...emitLists(document),
    "src/generated/resources.ts": emitResources(methods),
    "src/generated/client.ts": emitClient(methods, document),
    "api.md": emitApiPage(methods),
  };
}
