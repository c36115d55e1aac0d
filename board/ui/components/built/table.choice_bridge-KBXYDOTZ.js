//# allFunctionsCalledOnLoad
var n=Symbol.for("rl-logging-board.table");function s(e=globalThis){let o=e[n]??{chosen:new Map,widths:new Map,listeners:new Set};return e[n]=o,o}function t(e,o,r){e.chosen.set(o,r);for(let l of e.listeners)l(o)}function c({data:e}){t(s(),e.key,e.row)}export{c as default};
