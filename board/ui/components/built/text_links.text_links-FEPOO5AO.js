//# allFunctionsCalledOnLoad
function l({data:a,parentElement:n}){let t=n.querySelector("nav")??n.appendChild(document.createElement("nav"));t.translate=!1,t.replaceChildren(...a.links.map(({name:r,href:c})=>{let e=document.createElement("a");return e.textContent=r,e.href=new URL(c,document.location.href).href,e}))}export{l as default};
