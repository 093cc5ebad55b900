/** Defines a function with an event of its own: of an EventBridge rule, another function, or a route without an endpoint. */
export function invocation<E, R, P>(handle: (event: E, ports: P) => Promise<R>) {
  return {
    handle,
    /** Creates the Lambda handler, which calls `createPorts` at the first event. */
    lambda(createPorts: () => P) {
      let ports: P | undefined;
      return async (event: E): Promise<R> => {
        ports ??= createPorts();
        return handle(event, ports);
      };
    },
  };
}
