// Has the page drawn again that Streamlit took out of a browser that was late: a timer of the page before ran out while the next one was
// drawn, and what it draws by itself came behind it, as a part of the page before.

import { isIdle } from "../page_on_its_way.js";

const LOOKS = 400; // milliseconds: while a page changes it is gone for a moment, too

let [ask, drawn, gone] = [() => {}, false, 0];
setInterval(look, LOOKS);

/** @param {() => void} askAnew asks for a run of the script */
export function whenLost(askAnew) {
  ask = askAnew;
}

function look() {
  const there = document.querySelector(".st-key-page_body") !== null;
  gone = there || !isIdle() ? 0 : gone + 1;
  drawn ||= there;
  if (!drawn || gone < 2) return;
  drawn = false; // once: there may be nothing to draw
  ask();
}
