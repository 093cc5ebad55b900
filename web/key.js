import { el } from "./dom.js";

const NAME = "runyard.key";

/** The key lives as long as the tab does, and only in it. */
export function savedKey() {
  try {
    return sessionStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

export function forgetKey() {
  sessionStorage.removeItem(NAME);
}

/**
 * Asks for a key, and says what was wrong with the last one.
 *
 * @param {HTMLElement} main
 * @param {string | undefined} complaint
 * @param {() => void} onKey
 */
export function askForKey(main, complaint, onKey) {
  const input = el("input", {
    id: "key",
    type: "password",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    required: "",
    "aria-describedby": "key-hint key-error",
  });
  const error = el("p", { id: "key-error", class: "error", role: "alert" });
  const form = el(
    "form",
    { class: "key-form", novalidate: "", method: "post" },
    el("h1", {}, "Enter your key"),
    el(
      "p",
      { id: "key-hint" },
      "Runs are shown to holders of an API key. It stays in this tab and is sent to this address only.",
    ),
    el("label", { for: "key" }, "API key"),
    el("div", { class: "field" }, input, el("button", { type: "submit" }, "Show runs")),
    error,
  );
  /** @param {string} text */
  const complain = (text) => {
    error.textContent = text;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    // Anything else could not be sent in a header.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      complain(key === "" ? "Paste a key first." : "This is not a key: keys have neither spaces nor accents.");
      return;
    }
    try {
      sessionStorage.setItem(NAME, key);
    } catch {
      complain(
        "This browser keeps nothing for this address, so the key would be lost at once: allow it to store data.",
      );
      return;
    }
    onKey();
  });
  document.title = "Runyard";
  main.replaceChildren(form);
  input.focus();
  if (complaint !== undefined) complain(complaint);
}
