const NAME = "runyard.team";

/** The team that a person with several teams has chosen in this browser. */
export function selectedTeam(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

export function selectTeam(uid: string | undefined): void {
  try {
    if (uid === undefined) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, uid);
  } catch {
    // Without storage, the choice lasts until the next page load only, and the first team applies.
  }
}
