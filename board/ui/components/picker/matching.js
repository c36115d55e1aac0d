// Which options a typed text may mean, the likeliest first.

/**
 * The places of the options that hold every word of the text, whatever its case: first the one that is the text, then those that begin
 * with it, then the others, each in their order.
 * @param {string[]} options
 * @param {string} typed
 * @returns {number[]}
 */
export function matching(options, typed) {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/).filter(Boolean);
  /** @type {number[][]} */
  const ranks = [[], [], []];
  options.forEach((option, at) => {
    const low = option.toLowerCase();
    if (!words.every((word) => low.includes(word))) return;
    ranks[low === text ? 0 : low.startsWith(text) ? 1 : 2].push(at);
  });
  return ranks.flat();
}

/**
 * Of so many places those that are listed at once, and how many are left out: around `at` where that is one of them, else the first.
 * @param {number[]} places
 * @param {number} at
 * @param {number} most
 * @returns {{ listed: number[]; left: number }}
 */
export function listed(places, at, most) {
  const centre = places.indexOf(at);
  const first = Math.min(Math.max(0, centre - Math.floor(most / 2)), Math.max(0, places.length - most));
  return { listed: places.slice(first, first + most), left: Math.max(0, places.length - most) };
}
