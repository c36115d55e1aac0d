// What arrived from the server, as arrays: tokens, counts, and each metric with its scale and places. Pure; knows nothing of the page.

import { placesOf, scaleOf } from "./scale.js";

/** Reads the payload of `payload.py`; tables are Arrow tables with one column per array. */
export function modelOf({ meta, tokens, counts, values }) {
  const kept = meta.n === 0 ? new Uint8Array(0) : counts.getChildAt(0).toArray();
  const names = meta.n === 0 ? [] : texts(tokens.getChildAt(0), meta);
  const metrics = meta.metrics.map((metric, i) => {
    const numbers = meta.n === 0 ? new Float32Array(0) : values.getChildAt(i).toArray();
    const scale = scaleOf(numbers, kept, metric);
    return { ...metric, values: numbers, ...scale, places: placesOf(scale, numbers) };
  });
  return { ...meta, tokens: names, counts: kept, metrics };
}

/** The metric of this name, or null. */
export function metricOf(model, name) {
  return model.metrics.find((metric) => metric.name === name) ?? null;
}

/** Index in the window of a token of the whole response; null when it lies elsewhere. */
export function localIndex(model, position) {
  if (position === null || position < model.start || position >= model.start + model.n) return null;
  return position - model.start;
}

/** How many tokens are masked, and have no number or an infinite one, so that the legend explains only what is to be seen. */
export function traits(model, metric) {
  const seen = { masked: 0, missing: 0, infinite: 0 };
  for (let i = 0; i < model.n; i += 1) {
    if (model.counts[i] === 0) seen.masked += 1;
    else if (metric && Number.isNaN(metric.values[i])) seen.missing += 1;
    else if (metric && !Number.isFinite(metric.values[i])) seen.infinite += 1;
  }
  return seen;
}

function texts(column, { n, odd }) {
  return Array.from({ length: n }, (_, i) => (i in odd ? JSON.parse(odd[i]) : column.get(i)));
}
