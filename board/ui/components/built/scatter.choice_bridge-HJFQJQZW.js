//# allFunctionsCalledOnLoad
var n=Symbol.for("rl-logging-board.scatter");function t(e=globalThis){let o=e[n]??{chosen:null,listeners:new Set};return e[n]=o,o}function s(e,o){e.chosen=o;for(let r of e.listeners)r()}function l({data:e}){s(t(),e.place)}export{l as default};
