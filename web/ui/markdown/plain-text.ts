/** Longer texts are shown as they are: parsing takes time that grows faster than the text. */
const MAX_MARKDOWN = 40_000;
/** Markers that open something, one after the other. Text of nothing else is not written by people. */
const PATHOLOGICAL = /(?:[>*_[\]!`~|(-][ \t]*){300}/;

/** Texts with more markers nest deeply or have very many elements. */
const MAX_MARKERS = 3000;
const MARKERS = /[*_~`[\]<|]/g;

/** Whether a text is shown as it is instead of as Markdown. */
export const isPlainText = (text: string): boolean =>
  text.length > MAX_MARKDOWN || PATHOLOGICAL.test(text) || (text.match(MARKERS)?.length ?? 0) > MAX_MARKERS;
