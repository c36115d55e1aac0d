//# allFunctionsCalledOnLoad
var d=new Set;function o({data:e}){if(d.has(e.address))return;d.add(e.address);let n=document.createElement("a");n.href=new URL(e.address,document.location.href).href,n.download="",n.click()}export{o as default};
