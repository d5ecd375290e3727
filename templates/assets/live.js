/* Brings charts to life: the library and its readers are fetched when the page is at rest, or at a first touch. */
(() => {
  "use strict";

  const sitegen = (window.sitegen = window.sitegen || {});
  const home = new URL(".", document.currentScript.src);
  const PARTS = ["data", "scale", "points", "pen", "layers", "export", "chart", "address", "tools", "full", "board"];

  const script = (path) => new Promise((done, failed) => {
    const node = document.createElement("script");
    node.src = new URL(path, home).href;
    node.async = false; /* in the order they were asked for */
    node.onload = done;
    node.onerror = () => failed(new Error(`${path} did not arrive`));
    document.head.append(node);
  });

  const style = (path) => {
    const node = document.createElement("link");
    node.rel = "stylesheet";
    node.href = new URL(path, home).href;
    document.head.prepend(node); /* before our own, which refine it */
  };

  let asked = null;
  /* Promise of `uPlot` and of everything in `sitegen.charts`. */
  sitegen.library = () => {
    if (!asked) {
      style("lib/uplot.css");
      asked = Promise.all([script("lib/uplot.js"), ...PARTS.map((part) => script(`charts/${part}.js`))]);
    }
    return asked;
  };

  const start = () => {
    const root = document.querySelector("[data-sg-data]");
    if (!root || typeof DecompressionStream === "undefined") return; /* the drawings stay */
    let begun = false;
    const begin = () => {
      if (begun) return;
      begun = true;
      sitegen.library()
        .then(() => sitegen.charts.board(root, new URL(root.dataset.sgData, location.href)))
        .catch((fault) => { document.documentElement.dataset.sgCharts = `still: ${fault.message}`; });
    };
    const sparing = navigator.connection && navigator.connection.saveData;
    const linked = new URLSearchParams(location.search).size > 0;
    const touches = ["pointerover", "focusin", "touchstart"];
    touches.forEach((kind) => root.addEventListener(kind, begin, { once: true, passive: true }));
    const idle = window.requestIdleCallback || ((work) => setTimeout(work, 50));
    if (linked || !sparing) idle(begin, { timeout: 300 });
  };

  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
