// Puts runs of text into the page as text nodes, never as markup; a folded run is a button until it is asked for.
const TAGS = { both: "span", old: "del", new: "ins" };

function drawn(run) {
  const element = document.createElement(run.fold ? "button" : TAGS[run.side]);
  if (!run.fold) {
    element.textContent = run.text;
    return element;
  }
  element.type = "button";
  element.textContent = run.fold;
  element.addEventListener("click", () => {
    const opened = drawn({ ...run, fold: "" });
    opened.tabIndex = -1;
    element.replaceWith(opened);
    opened.focus({ preventScroll: true });
  });
  return element;
}

export default function ({ data, parentElement }) {
  let pane = parentElement.querySelector(".diff");
  if (!pane) {
    pane = document.createElement("div");
    pane.className = "diff";
    pane.translate = false;
    parentElement.append(pane);
  }
  pane.style.maxHeight = data.height ? `${data.height}px` : "none";
  pane.tabIndex = data.height ? 0 : -1;
  const shown = JSON.stringify(data.runs);
  if (pane.shown !== shown) {
    pane.shown = shown;
    pane.replaceChildren(...data.runs.map(drawn));
    pane.scrollTop = 0;
  }
}
