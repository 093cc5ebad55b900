import { type ComponentType, type FunctionComponent, lazy, useState } from "react";
import { untilLoaded } from "./until-loaded.ts";

/**
 * A component whose script is loaded when it is first shown, or ahead of that. One that has been loaded is rendered at once, without
 * the fallback, whose size may be another. Where it is shown, it is loaded until that succeeds; `load` fails.
 */
export function part<P extends object>(
  load: () => Promise<ComponentType<P>>,
): FunctionComponent<P> & { readonly load: () => Promise<void> } {
  let Loaded: ComponentType<P> | undefined;
  const loadOnce = async () => {
    Loaded ??= await load();
    return { default: Loaded };
  };
  const Lazy: ComponentType<P> = lazy(() => untilLoaded(loadOnce));
  const Part = (props: P) => {
    // What is shown stays the same component, which would lose its state otherwise.
    const [Shown] = useState(() => Loaded ?? Lazy);
    return <Shown {...props} />;
  };
  return Object.assign(Part, { load: async () => void (await loadOnce()) });
}
