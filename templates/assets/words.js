/* What scripts say. On a site in another language the build adds its words below: English sentences are the keys. */
(() => {
  "use strict";

  const sitegen = (window.sitegen = window.sitegen || {});
  sitegen.words = {};
  /* `text` in the language of the site, with its {places} filled. */
  sitegen.t = (text, places = {}) => (sitegen.words[text] || text).replace(/\{(\w+)\}/g, (all, name) => (name in places ? String(places[name]) : all));
})();
