// The component nobody sees: tells a table of the page which of its rows is chosen.

import { setChosenRow, sharedTables } from "./shared_tables.js";

/** @param {{ data: { key: string; row: number | null } }} given */
export default function ({ data }) {
  setChosenRow(sharedTables(), data.key, data.row);
}
