/**
 * What runs say is hostile: everything that is shown goes through here and becomes a text node or an attribute that is set by
 * its name, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

/**
 * A button that cannot be pressed again while it works. It stays focusable: who pressed it must not lose the place.
 *
 * @param {string} label
 * @param {() => void | Promise<void>} onPress
 */
export function button(label, onPress) {
  const element = el("button", { type: "button" }, label);
  element.addEventListener("click", async () => {
    if (element.getAttribute("aria-disabled") === "true") return;
    element.setAttribute("aria-disabled", "true");
    try {
      await onPress();
    } finally {
      element.removeAttribute("aria-disabled");
    }
  });
  return element;
}
