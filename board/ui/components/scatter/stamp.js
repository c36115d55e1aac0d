// Many points as small squares that show through each other, pixel by pixel: a canvas draws a hundred thousand rectangles far more slowly.

import { parseColor } from "../token_view/color.js";

/** @import { Dots, Plane } from "./types" */

/**
 * @param {Dots} dots
 * @param {{ order: Uint32Array; firsts: Uint32Array }} shaded which dots have which shade
 * @param {string[]} shades
 * @param {Plane} plane
 * @param {{ width: number; height: number; scale: number; side: number; alpha: number }} how in pixels of the page, and of the screen for each
 * @returns {Uint8ClampedArray<ArrayBuffer>} red, green, blue and alpha of each pixel of the screen
 */
export function stamped(dots, { order, firsts }, shades, plane, { width, height, scale, side, alpha }) {
  const [across, down, size] = [Math.round(width * scale), Math.round(height * scale), Math.max(1, Math.round(side * scale))];
  const pixels = new Uint8ClampedArray(across * down * 4);
  shades.forEach((shade, number) => {
    const rgb = parseColor(shade) ?? [128, 128, 128];
    for (let one = firsts[number]; one < firsts[number + 1]; one += 1) {
      const at = order[one];
      const left = Math.round((plane.left + dots.x[at] * plane.width) * scale - size / 2);
      const top = Math.round((plane.top + (1 - dots.y[at]) * plane.height) * scale - size / 2);
      for (let y = Math.max(0, top); y < Math.min(down, top + size); y += 1)
        for (let x = Math.max(0, left); x < Math.min(across, left + size); x += 1)
          blend(pixels, 4 * (y * across + x), rgb, alpha);
    }
  });
  return pixels;
}

/**
 * Lays a colour over a pixel.
 * @param {Uint8ClampedArray} pixels
 * @param {number} at
 * @param {number[]} rgb
 * @param {number} alpha
 */
function blend(pixels, at, rgb, alpha) {
  const below = (pixels[at + 3] / 255) * (1 - alpha);
  const whole = alpha + below;
  for (let part = 0; part < 3; part += 1) pixels[at + part] = (rgb[part] * alpha + pixels[at + part] * below) / whole;
  pixels[at + 3] = 255 * whole;
}
