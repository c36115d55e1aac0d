// Elements of XML as text, whatever their texts hold. Pure.

const ENTITIES = /** @type {Record<string, string>} */ ({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
});
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold, not even as an entity
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * An element with its attributes and what is in it, which is markup already.
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {...string} children
 * @returns {string}
 */
export function markup(name, attributes, ...children) {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return children.length ? `<${name}${given.join("")}>${children.join("")}</${name}>` : `<${name}${given.join("")}/>`;
}

/**
 * A text as markup that shows it letter for letter; a character that XML cannot hold is shown as one that is not known.
 * @param {string} text
 * @returns {string}
 */
export function escaped(text) {
  return text
    .toWellFormed()
    .replaceAll(NOT_IN_XML, "\ufffd")
    .replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter]);
}
