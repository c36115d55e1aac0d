// The component nobody sees: hands the place of the chosen rollout to the scatter of the page.

import { setChosen, sharedChoice } from "./shared.js";

/** @import { Chosen } from "./types" */

/** @param {{ data: Chosen }} given */
export default function ({ data }) {
  setChosen(sharedChoice(), data.place);
}
