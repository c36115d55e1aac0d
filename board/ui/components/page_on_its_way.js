// Whether a page that the reader went to is still on its way. What is told to the server meanwhile would count as told on the page of before,
// and lead back there.

const ARRIVES_WITHIN = 3000; // milliseconds: by then it is there, or will not come

const ARRIVED = "board-arrived";

/** @param {string} path the page's, as a link names it */
export function setOut(path) {
  const { dataset } = document.documentElement;
  const arrive = () => {
    if (dataset.boardGoing === path) arrived();
  };
  dataset.boardGoing = path;
  if (dataset.boardPage === path) return arrived(); // back to the page that is on the screen yet
  setTimeout(arrive, ARRIVES_WITHIN);
  addEventListener("popstate", arrive, { once: true }); // Back, before it came
}

/** @param {string} path the page's that is drawn now */
export function there(path) {
  const { dataset } = document.documentElement;
  dataset.boardPage = path;
  if (dataset.boardGoing === path) arrived();
}

function arrived() {
  delete document.documentElement.dataset.boardGoing;
  document.dispatchEvent(new Event(ARRIVED));
}

/** @param {() => void} act is called now, or once the page is there that is on its way */
export function whenThere(act) {
  if (document.documentElement.dataset.boardGoing === undefined) act();
  else document.addEventListener(ARRIVED, act, { once: true });
}

/** Whether the server has answered all that it was asked for, and no page is on its way. */
export function isIdle() {
  const idle = document.querySelector("[data-testid=stApp]")?.getAttribute("data-test-script-state") === "notRunning";
  return idle && document.documentElement.dataset.boardGoing === undefined;
}
