/** Copies a text, also on pages that are not loaded over https, where browsers have no clipboard for scripts. Returns whether it did. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

/** The older way: the browser asks the page what to copy. */
function copyByCommand(text: string): boolean {
  let isCopied = false;
  const give = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData("text/plain", text);
    isCopied = event.clipboardData !== null;
  };
  document.addEventListener("copy", give, { capture: true, once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", give, { capture: true });
  return isCopied;
}
