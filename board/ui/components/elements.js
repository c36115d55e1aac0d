// Elements of our components: text goes in as text alone.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {string} [text]
 * @param {Record<string, string>} [attributes]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function made(tag, className, text = "", attributes = {}) {
  const one = document.createElement(tag);
  one.className = className;
  one.textContent = text;
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  return one;
}

/**
 * @param {string} className
 * @param {string} text
 * @param {string} label
 * @param {() => void} act
 */
export function button(className, text, label, act) {
  const one = made("button", className, text, { type: "button", title: label, "aria-label": label });
  one.onclick = act;
  return one;
}
