// What a key does in the table. Pure: a key and where it is pressed in, what is meant out.

/**
 * @typedef {{ act: "move"; at: number; cell: number } | { act: "choose" | "sort" | "whole" | "find" } | { act: "widen"; by: number }} Meant
 */

const WIDER = 16; // pixels

/**
 * @param {{ key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean }} event
 * @param {{ at: number; cell: number; rows: number; columns: number; page: number; chosen: boolean }} place `at` -1 is the head; `page` rows are
 *   in sight; `chosen` is whether the row is the chosen one already: then Enter is the page's
 * @returns {Meant | null} null where the key means nothing here
 */
export function meantBy(event, { at, cell, rows, columns, page, chosen }) {
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key === "f") return { act: "find" };
  if (event.altKey) return null;
  if (event.shiftKey && at < 0 && (key === "ArrowLeft" || key === "ArrowRight"))
    return { act: "widen", by: key === "ArrowLeft" ? -WIDER : WIDER };
  if (key === "Enter") return at < 0 ? { act: "sort" } : rows && !chosen ? { act: "choose" } : null;
  if (key === " ") return at < 0 ? { act: "sort" } : rows ? { act: "whole" } : null;
  const down = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: Number.NEGATIVE_INFINITY, End: rows }[key];
  const aside = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (down === undefined && aside === undefined) return null;
  const least = key === "ArrowUp" || at < 0 ? -1 : 0; // the heads stand above the first row
  const next = down === undefined ? at : Math.min(rows - 1, Math.max(key === "Home" ? 0 : least, at + down));
  return { act: "move", at: next, cell: Math.min(columns - 1, Math.max(0, cell + (aside ?? 0))) };
}
