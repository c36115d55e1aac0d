// Builds elements. Text only ever enters the page through here, as text: nothing is parsed as markup.

/** An element with a class, properties and children; a string child becomes a text node. Keys with a dash are set as attributes. */
export function element(tag, className = "", properties = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** Runs `work` once per frame however often it is asked for. */
export function perFrame(work) {
  let asked = 0;
  const ask = () => {
    if (asked) return;
    asked = requestAnimationFrame(() => {
      asked = 0;
      work();
    });
  };
  ask.cancel = () => cancelAnimationFrame(asked);
  return ask;
}

/** Runs `work` when the browser has nothing better to do. */
export function whenIdle(work) {
  if (globalThis.requestIdleCallback) requestIdleCallback(() => work(), { timeout: 2000 });
  else setTimeout(work, 50);
}

/** Runs `work` once when the browser has painted and has nothing else to do, soon in any case, however often it is asked for. */
export function perIdle(work) {
  let asked = 0;
  const [later, never] = globalThis.requestIdleCallback
    ? [requestIdleCallback, cancelIdleCallback]
    : [(then) => setTimeout(then, 50), clearTimeout];
  const ask = () => {
    if (asked) return;
    asked = later(
      () => {
        asked = 0;
        work();
      },
      { timeout: 300 },
    );
  };
  ask.cancel = () => never(asked);
  return ask;
}
