// The component nobody sees: hands the server's choice to all curves of the page.

import { choose, pageState } from "./page_state.js";

/** @import { Choice } from "./types" */

/** @param {{ data: Choice }} given */
export default function ({ data }) {
  choose(pageState(), data);
}
