import { type ComponentType, type FunctionComponent, lazy } from "react";

/**
 * A component whose script is loaded when it is first shown, or ahead of that. One that has been loaded is rendered at once, without
 * the fallback, whose size may be another.
 */
export function part<P extends object>(
  load: () => Promise<ComponentType<P>>,
): FunctionComponent<P> & { readonly load: () => Promise<void> } {
  let Loaded: ComponentType<P> | undefined;
  const loadOnce = async () => {
    Loaded ??= await load();
    return { default: Loaded };
  };
  const Lazy: ComponentType<P> = lazy(loadOnce);
  const Part = (props: P) => (Loaded === undefined ? <Lazy {...props} /> : <Loaded {...props} />);
  return Object.assign(Part, { load: async () => void (await loadOnce()) });
}
