// Colours of the scales: even steps in OKLab from the page's background to a loud end, and text that stays legible on each. Pure.
//
// Sequential runs blue, grey, gold as cividis does (safe for colour blindness), diverging blue or orange from zero. On a light page a loud
// token is darker than the page, on a dark page brighter, so quiet always means "like the page" and the text stays the loudest thing.

/** @import { Palette } from "./model_types" */
/** @import { ScaleKind } from "./payload_types" */
/** @import { Rgb } from "./plain_types" */

/** Anchors as OKLCH: lightness, chroma, hue in degrees. */
const ANCHORS = {
  light: {
    sequential: [
      [0.925, 0.035, 256],
      [0.86, 0.02, 130],
      [0.82, 0.105, 94],
      [0.71, 0.155, 72],
    ],
    negative: [
      [0.87, 0.06, 248],
      [0.7, 0.125, 250],
    ],
    positive: [
      [0.88, 0.065, 68],
      [0.72, 0.155, 55],
    ],
  },
  dark: {
    sequential: [
      [0.33, 0.075, 260],
      [0.46, 0.035, 250],
      [0.66, 0.075, 98],
      [0.87, 0.15, 97],
    ],
    negative: [
      [0.36, 0.08, 256],
      [0.53, 0.14, 253],
    ],
    positive: [
      [0.37, 0.075, 57],
      [0.545, 0.135, 52],
    ],
  },
};
/** WCAG AA for text. */
const LEGIBLE = 4.5;

/**
 * Colours for one theme. `background` and `text` are [r, g, b] of 0 to 255. Returns {dark, sequential(at), negative(at), positive(at)},
 * each from a place of 0 to 1 to [r, g, b]; the place 0 is the background itself.
 * @param {Rgb} background
 * @returns {Palette}
 */
export function palette(background) {
  const dark = luminance(background) < 0.2;
  const anchors = ANCHORS[dark ? "dark" : "light"];
  const start = labOfRgb(background);
  /** @param {number[][]} stops */
  const ramp = (stops) => evenRamp([start, ...stops.map(labOfLch)]);
  return { dark, sequential: ramp(anchors.sequential), negative: ramp(anchors.negative), positive: ramp(anchors.positive) };
}

/**
 * The colour of a place on a scale: which ramp, by scale and sign.
 * @param {Palette} colors
 * @param {ScaleKind} scaleKind
 * @param {number} at
 */
export function colorAt(colors, scaleKind, at) {
  if (scaleKind !== "diverging") return colors.sequential(at);
  return at < 0 ? colors.negative(-at) : colors.positive(at);
}

/**
 * The page's text colour where it is legible on `fill`, else black or white, whichever contrasts more.
 * @param {Rgb} fill
 * @param {Rgb} text
 */
export function inkOn(fill, text) {
  if (contrast(fill, text) >= LEGIBLE) return text;
  const [black, white] = [
    [0, 0, 0],
    [255, 255, 255],
  ];
  return contrast(fill, black) > contrast(fill, white) ? black : white;
}

/**
 * WCAG contrast ratio of two [r, g, b].
 * @param {number[]} one
 * @param {number[]} other
 */
export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/**
 * Relative luminance by WCAG 2.
 * @param {Rgb} rgb
 */
export function luminance(rgb) {
  const [r, g, b] = rgb.map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * [r, g, b] of "#rgb", "#rrggbb" or "rgb(…)"; null for anything else.
 * @param {string} text
 * @returns {Rgb | null}
 */
export function parseColor(text) {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim());
  if (hex) {
    const digits = hex[1].length === 3 ? [...hex[1]].map((d) => d + d).join("") : hex[1];
    return [0, 2, 4].map((i) => parseInt(digits.slice(i, i + 2), 16));
  }
  const rgb = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/.exec(text.trim());
  return rgb ? rgb.slice(1, 4).map(Number) : null;
}

/**
 * "rgb(…)" for a style.
 * @param {Rgb} rgb
 */
export function css(rgb) {
  return `rgb(${rgb.map(Math.round).join(" ")})`;
}

/**
 * Distance of two [r, g, b] in OKLab; about 0.02 is just noticeable.
 * @param {number[]} one
 * @param {number[]} other
 */
export function difference(one, other) {
  return distance(labOfRgb(one), labOfRgb(other));
}

/**
 * A path through Lab points walked at even speed, so that equal steps of a metric look equally far apart.
 * @param {number[][]} points
 * @returns {(at: number) => Rgb}
 */
function evenRamp(points) {
  const lengths = points.slice(1).map((point, i) => distance(points[i], point));
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  return (at) => {
    let left = Math.min(1, Math.max(0, at)) * whole;
    let leg = 0;
    while (leg < lengths.length - 1 && left > lengths[leg]) {
      left -= lengths[leg];
      leg += 1;
    }
    const share = left / lengths[leg];
    return rgbOfLab(points[leg].map((value, i) => value + share * (points[leg + 1][i] - value)));
  };
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function distance(one, other) {
  return Math.hypot(...one.map((value, i) => value - other[i]));
}

/** @param {number[]} given */
function labOfLch([lightness, chroma, hue]) {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

// OKLab as its author gives it: https://bottosson.github.io/posts/oklab/
/** @param {Rgb} rgb */
function labOfRgb(rgb) {
  const [r, g, b] = rgb.map(linear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {number[]} given */
function rgbOfLab([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((value) => 255 * gamma(Math.min(1, Math.max(0, value))));
}

/** @param {number} channel */
function linear(channel) {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** @param {number} value */
function gamma(value) {
  return value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
}
