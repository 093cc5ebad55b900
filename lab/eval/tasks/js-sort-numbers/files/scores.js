/** The highest scores, the highest first. */
export function topScores(scores, count) {
  return scores.sort().reverse().slice(0, count);
}
