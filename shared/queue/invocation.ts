/** A function that AWS invokes with an event of its own: a rule of EventBridge, another function, or a route without an endpoint. */
export function invocation<E, R, P>(handle: (event: E, ports: P) => Promise<R>) {
  return {
    handle,
    /** The Lambda handler; `createPorts` is called at the first event and not before. */
    lambda(createPorts: () => P) {
      let ports: P | undefined;
      return async (event: E): Promise<R> => {
        ports ??= createPorts();
        return handle(event, ports);
      };
    },
  };
}
