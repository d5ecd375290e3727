/* Links to copy: texts with a button, and the address of this site where mkdocs.yml does not say it.
   Every page is complete without it. */
(() => {
  "use strict";

  /* The clipboard proper wants https or this machine; many sites of a cluster are plain http. */
  const copy = (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sg-offstage";
    area.setAttribute("aria-hidden", "true");
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (before) before.focus();
    return done ? Promise.resolve() : Promise.reject(new Error("not allowed"));
  };

  const said = document.createElement("div");
  said.className = "sg-offstage";
  said.setAttribute("role", "status");

  const tell = (button, text) => {
    const before = button.dataset.sgLabel || button.textContent;
    button.dataset.sgLabel = before;
    button.textContent = text;
    said.textContent = text;
    clearTimeout(Number(button.dataset.sgTimer));
    button.dataset.sgTimer = String(setTimeout(() => { button.textContent = before; said.textContent = ""; }, 1500));
  };

  const copyable = (pre) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sg-chip sg-copy-button";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      copy(pre.querySelector("code").textContent).then(() => tell(button, "Copied"), () => tell(button, "Not allowed"));
    });
    pre.append(button);
  };

  const address = (pre) => {
    const root = new URL(pre.dataset.sgAddress, location.href);
    root.search = root.hash = "";
    const code = pre.querySelector("code");
    code.textContent = code.textContent.replaceAll("SITE/", root.href);
  };

  const start = () => {
    document.body.append(said);
    document.querySelectorAll("pre[data-sg-address]").forEach(address);
    document.querySelectorAll("[data-sg-address-note]").forEach((note) => { note.hidden = true; });
    document.querySelectorAll(".sg-page pre.sg-copy").forEach(copyable);
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
