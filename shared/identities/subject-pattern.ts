/** Whether a subject matches a pattern, in which each `*` stands for any text. Takes linear time in the length of both. */
export function matchesSubject(pattern: string, subject: string): boolean {
  const [first = "", ...parts] = pattern.split("*");
  if (parts.length === 0) return subject === pattern;
  if (!subject.startsWith(first)) return false;
  const last = parts.pop() ?? "";
  let position = first.length;
  for (const part of parts) {
    const found = subject.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return subject.length - last.length >= position && subject.endsWith(last);
}
