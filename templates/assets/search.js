/* Search over the index that Pagefind left beside the pages. Nothing is loaded before somebody searches. */
(function () {
  "use strict";
  var opener = document.querySelector("[data-sg-find]");
  if (!opener || !window.HTMLDialogElement) return;
  var t = window.sitegen.t;
  var root = new URL(opener.dataset.sgFind.replace(/\/?$/, "/"), location.href);
  var finds = window.sitegen.finds, answers = window.sitegen.answers, KINDS = finds.KINDS, WORDS = finds.WORDS;
  var ANY = {
    kind: t("any kind"), status: t("any status"), severity: t("any severity"), rule: t("any rule"),
    project: t("any project"), algorithm: t("any algorithm"), model: t("any model"), month: t("any month"),
  };
  var NAMES = {
    kind: t("kind"), status: t("status"), severity: t("severity"), rule: t("rule"),
    project: t("project"), algorithm: t("algorithm"), model: t("model"), month: t("month"),
  };
  var FILTERS = ["kind", "status", "severity", "rule", "project", "algorithm", "model", "month"];
  var PAGE = 10;
  var IDEOGRAPHS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}/g;
  var dialog, input, chips, note, list, engine, chosen = {}, asked = [], turn = 0;

  opener.addEventListener("click", open);
  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    open();
  }, true);

  function open() {
    if (!dialog) build();
    if (!dialog.open) dialog.showModal();
    input.focus();
    input.select();
    load();
  }

  function build() {
    dialog = element("dialog", { className: "sg-find" });
    dialog.setAttribute("aria-label", t("Search"));
    input = element("input", { type: "search", placeholder: t("Search runs, incidents, log lines, rules"), autocomplete: "off", spellcheck: false });
    input.setAttribute("aria-label", t("Search the site"));
    input.setAttribute("aria-controls", "sg-find-list");
    chips = element("div", { className: "sg-find-chips" });
    note = element("p", { className: "sg-find-note" });
    note.setAttribute("role", "status");
    list = element("ol", { className: "sg-find-list", id: "sg-find-list" });
    var close = element("button", { type: "button", className: "sg-find-close", textContent: t("Close") });
    close.addEventListener("click", function () { dialog.close(); });
    var bar = element("div", { className: "sg-find-bar" });
    bar.append(input, close);
    dialog.append(bar, chips, note, list);
    document.body.append(dialog);
    var timer;
    input.addEventListener("input", function () { clearTimeout(timer); timer = setTimeout(search, 120); });
    dialog.addEventListener("click", function (event) { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("keydown", walk);
    list.addEventListener("click", function (event) { if (event.target.closest("a")) dialog.close(); });
  }

  function walk(event) {
    event.stopPropagation();  /* the theme has keys of its own */
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp" && event.key !== "Enter") return;
    var links = Array.from(list.querySelectorAll("a"));
    var at = links.indexOf(document.activeElement);
    if (event.key === "Enter") {
      if (document.activeElement === input && links.length) { event.preventDefault(); links[0].click(); }
      return;
    }
    event.preventDefault();
    var next = at + (event.key === "ArrowDown" ? 1 : -1);
    (links[next] || (next < 0 ? input : links[at]) || input).focus();
  }

  function load() {
    if (engine) return engine;
    if (location.protocol === "file:") {
      say(t("Search needs a web server: browsers do not let a page read an index from a file. `sitegen serve` shows this site with search."));
      return null;
    }
    say(t("Loading the index…"));
    engine = import(new URL("pagefind/pagefind.js", root).href).then(function (pagefind) {
      return Promise.resolve(pagefind.options({ baseUrl: root.pathname, excerptLength: 24 })).then(function () {
        return pagefind.filters();
      }).then(function (filters) {
        drawChips(filters);
        say("");
        return pagefind;
      });
    }).catch(function () {
      engine = null;
      say(t("The search index could not be loaded. It is written by the last step of a build; build again if it is missing."));
      return null;
    });
    engine.then(search);
    return engine;
  }

  function drawChips(filters) {
    chips.replaceChildren();
    FILTERS.forEach(function (name) {
      var values = Object.keys(filters[name] || {});
      if (values.length < 2) return;
      var select = element("select", {});
      select.setAttribute("aria-label", NAMES[name]);
      select.append(element("option", { value: "", textContent: ANY[name] }));
      values.sort().forEach(function (value) {
        var label = (name === "kind" && KINDS[value]) || ((name === "status" || name === "severity") && WORDS[value]) || value;
        select.append(element("option", { value: value, textContent: label + " (" + filters[name][value] + ")" }));
      });
      select.addEventListener("change", function () {
        if (select.value) chosen[name] = select.value; else delete chosen[name];
        search();
      });
      chips.append(select);
    });
  }

  /* Chinese, Japanese and Korean are indexed as pairs of characters: 显存占用 is asked for as 显存 存占 占用. */
  function pairs(text) {
    return text.replace(IDEOGRAPHS, function (run) {
      var found = [];
      for (var at = 0; at < run.length - 1; at++) found.push(run.slice(at, at + 2));
      return " " + found.join(" ") + " ";
    });
  }

  function search() {
    if (!engine) return;
    var mine = ++turn;
    asked = input.value.match(IDEOGRAPHS) || [];
    var words = pairs(input.value).trim();
    engine.then(function (pagefind) {
      if (!pagefind || mine !== turn) return null;
      if (!words && !Object.keys(chosen).length) { list.replaceChildren(); say(""); return null; }
      return answers.answer(pagefind, words, input.value, chosen).then(function (found) {
        if (mine === turn) return show(found.results, 0, mine, found.codes);
        return null;
      });
    });
  }

  function show(results, from, mine, codes) {
    return Promise.all(results.slice(from, from + PAGE).map(function (one) { return one.data(); })).then(function (pages) {
      if (mine !== turn) return;
      if (!from) list.replaceChildren();
      var more = list.querySelector(".sg-find-more");
      if (more) more.remove();
      if (!from && input.value.trim() && !pages.some(function (page) { return answers.holds(page, input.value); })) {
        say(t("Nothing found for “{words}”.", { words: input.value.trim() }));
        return;
      }
      say(results.length === 1 ? t("1 page") : t("{n} pages", { n: results.length }));
      pages.forEach(function (page) { list.append(finds.entry(page, input.value, asked, codes)); });
      var left = results.length - from - PAGE;
      if (left > 0) {
        var item = element("li", { className: "sg-find-more" });
        var button = element("button", { type: "button", className: "sg-find-close", textContent: t("{n} more", { n: left }) });
        button.addEventListener("click", function () { show(results, from + PAGE, mine, codes); });
        item.append(button);
        list.append(item);
      }
    });
  }

  function say(text) { note.textContent = text; note.hidden = !text; }

  function element(name, properties) { return Object.assign(document.createElement(name), properties); }
})();
