//# allFunctionsCalledOnLoad
var n=Symbol.for("rl-logging-board.token-view");function l(e,t=globalThis){let r=t[n]??new Map;return t[n]=r,r.has(e)||r.set(e,{choice:null,listener:null}),r.get(e)}function f(e,t){let r=JSON.stringify(e.choice)===JSON.stringify(t);e.choice=t,e.listener?.(t,r)}function g({data:e}){f(l(e.key),e)}export{g as default};
