// Which characters of a token need a visible mark, and what the mark says. Pure: text in, pieces out; the page draws them.

/** @import { Mark, Piece } from "./model_types" */

const HIDDEN =
  /^(?:[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs})$/u;
// Arabic, Syriac and Kaithi signs of category Cf that do have a shape of their own.
const SHAPED_FORMAT = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u;
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these alone joins
const JOINER = /^[\u200c\u200d\ufe00-\ufe0f]$/;
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these alone can be joined
const JOINABLE = /^[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const KEYCAP_BASE = /^[0-9#*]$/;

/** @type {Record<number, string>} */
const NAMES = {
  0x09: "tab",
  0x0a: "line feed",
  0x0d: "carriage return",
  0x20: "space",
  0xa0: "no-break space",
  0xad: "soft hyphen",
  0x34f: "combining grapheme joiner",
  0x61c: "Arabic letter mark",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0x3000: "ideographic space",
  0xfe0f: "variation selector 16",
  0xfeff: "byte order mark",
  0xfffd: "replacement character",
};
const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");
/** @type {Record<number, string>} */
const BADGES = {
  0x7f: "DEL",
  0x85: "NEL",
  0xa0: "NBSP",
  0xad: "SHY",
  0x61c: "ALM",
  0x200b: "ZWSP",
  0x200c: "ZWNJ",
  0x200d: "ZWJ",
  0x200e: "LRM",
  0x200f: "RLM",
  0x2028: "LSEP",
  0x2029: "PSEP",
  0x202a: "LRE",
  0x202b: "RLE",
  0x202c: "PDF",
  0x202d: "LRO",
  0x202e: "RLO",
  0x2060: "WJ",
  0x2066: "LRI",
  0x2067: "RLI",
  0x2068: "FSI",
  0x2069: "PDI",
  0x3000: "IDSP",
  0xfe0f: "VS16",
  0xfeff: "BOM",
};

/**
 * A token as a list of {text} and {mark, raw, badge}: `mark` is what to draw, `raw` the character where the layout needs it too
 * (a line feed breaks, a tab and a space take room), else "". With `spaces`, every space is marked, not only those of a blank token. Joiners and variation selectors stay in the text where they do their work.
 * @param {string} token
 * @param {boolean} [spaces]
 * @returns {Piece[]}
 */
export function pieces(token, spaces = false) {
  if (token === "") return [{ mark: "∅", raw: "", badge: false }];
  const blank = spaces || /^ +$/.test(token);
  const characters = [...token];
  const out = [];
  let run = "";
  characters.forEach((character, i) => {
    const mark =
      blank && character === " "
        ? { mark: "·", raw: " ", badge: false }
        : markOf(character, characters[i - 1], characters[i + 1]);
    if (mark === null) {
      run += character;
      return;
    }
    if (run) out.push({ text: run });
    run = "";
    out.push(mark);
  });
  if (run) out.push({ text: run });
  return out;
}

/**
 * Whether a token draws as plain text, so that most tokens cost one text node.
 * @param {string} token
 */
export function isPlain(token) {
  return /^[!-~](?:[ -~]*)$|^ [!-~][ -~]*$/.test(token);
}

/**
 * The token as a JSON literal in which every hidden character is an escape.
 * @param {string} token
 */
export function literal(token) {
  const body = [...token].map((character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    if (!isHidden(character)) return character;
    const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f" }[character];
    if (known) return known;
    return character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  });
  return `"${body.join("")}"`;
}

/**
 * The hidden characters of a token, each once and in order: "U+200B zero width space". A lone space and line feeds count.
 * @param {string} token
 */
export function codePoints(token) {
  /** @type {(character: string) => boolean} */
  const wanted = /^\s+$/.test(token) ? () => true : (c) => isHidden(c) || c === "\ufffd";
  const found = [...new Set([...token].filter(wanted))];
  return found.map((character) => {
    const code = /** @type {number} */ (character.codePointAt(0));
    return `${codeName(code)} ${NAMES[code] ?? kind(code)}`.trim();
  });
}

/** @param {string} character */
function isHidden(character) {
  return HIDDEN.test(character) && !SHAPED_FORMAT.test(character);
}

/**
 * @param {string} character
 * @param {string | undefined} before
 * @param {string | undefined} after
 * @returns {Mark | null}
 */
function markOf(character, before, after) {
  if (!isHidden(character)) return null;
  if (JOINER.test(character) && joins(character, before, after)) return null;
  const code = /** @type {number} */ (character.codePointAt(0));
  if (code === 0x0a) return { mark: "↵", raw: "\n", badge: false };
  if (code === 0x09) return { mark: "→", raw: "\t", badge: false };
  if (code < 0x20) return { mark: CONTROLS[code], raw: "", badge: true };
  return { mark: BADGES[code] ?? codeName(code), raw: "", badge: true };
}

/**
 * @param {string} character
 * @param {string | undefined} before
 * @param {string | undefined} after
 */
function joins(character, before, after) {
  if (before === undefined) return false;
  if (character >= "\ufe00") return JOINABLE.test(before) || KEYCAP_BASE.test(before);
  return after !== undefined && JOINABLE.test(before) && JOINABLE.test(after);
}

/** @param {number} code */
function codeName(code) {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** @param {number} code */
function kind(code) {
  if (code >= 0xd800 && code <= 0xdfff) return "half of a character (lone surrogate)";
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return "control";
  if (code >= 0xe0000 && code <= 0xe007f) return "tag";
  return "";
}
