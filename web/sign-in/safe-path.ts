/** The path to follow after the sign-in. Only paths of this app are followed. */
export const toSafePath = (to: string | undefined): string =>
  to !== undefined && /^\/(?![/\\])/.test(to) ? to : "/runs";
