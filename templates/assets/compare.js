/* Loads what the page that compares runs is made of. The page says what it needs until this has run. */
(() => {
  "use strict";

  const root = document.querySelector("[data-sg-compare]");
  if (!root || typeof DecompressionStream === "undefined") return;
  const sitegen = (window.sitegen = window.sitegen || {});
  const home = new URL(".", document.currentScript.src), { t } = sitegen;
  const CHARTS = ["data", "scale", "points", "pen", "layers", "export", "tools"];
  const OWN = ["state", "runs", "lines", "apart", "flags", "overlay", "save", "tables", "parting", "page"];

  const script = (path) => new Promise((done, failed) => {
    const node = document.createElement("script");
    node.src = new URL(path, home).href;
    node.async = false; /* in the order they were asked for */
    node.onload = done;
    node.onerror = () => failed(new Error(t("{path} did not arrive", { path })));
    document.head.append(node);
  });

  const start = async () => {
    try {
      const library = sitegen.library ? sitegen.library() : Promise.all(CHARTS.map((part) => script(`charts/${part}.js`)));
      await Promise.all([library, ...OWN.map((part) => script(`compare/${part}.js`))]);
      await sitegen.compare.start(root);
    } catch (fault) {
      const said = root.querySelector("[data-sg-said]");
      said.className = "sg-empty";
      said.textContent = t("The comparison could not be drawn: {why}", { why: fault.message });
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
