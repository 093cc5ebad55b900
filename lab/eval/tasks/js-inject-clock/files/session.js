const LIFETIME_MS = 50;

export function createSession(user) {
  const created = Date.now();
  return {
    user,
    isExpired() {
      return Date.now() - created >= LIFETIME_MS;
    },
  };
}
