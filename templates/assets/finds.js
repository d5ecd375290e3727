/* What search shows of a page that it found: what the page is, how bad, and the places on it that answer. */
(() => {
  "use strict";

  const sitegen = window.sitegen, t = sitegen.t;
  const MOST = 3; /* places of a page */
  const BELOW = 24; /* words below the heading of an incident */
  const AROUND = 36; /* characters on each side of Chinese that was found */
  const KINDS = {
    run: t("run"), rule: t("rule"), board: t("leaderboard"), guide: t("guide"), samples: t("samples"),
    traces: t("traces"), project: t("project"), projects: t("projects"), compare: t("comparison"), page: t("page"),
  };
  const WORDS = {
    critical: t("critical"), error: t("error"), warning: t("warning"), info: t("remark"), muted: t("muted"),
    crashed: t("crashed"), failed: t("failed"), unfinished: t("unfinished"), attention: t("attention"), healthy: t("healthy"),
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const link = (url, text) => element("a", { href: url, textContent: text });
  const pill = (word) => element("span", { className: `sg-pill sg-pill--${word}`, textContent: WORDS[word] });

  /* The kind of a page, the severity of a rule, the state of a run. */
  const about = (page) => {
    const first = (name) => ((page.filters || {})[name] || [])[0];
    const kind = first("kind"), status = first("status"), severity = first("severity");
    const told = element("span", { className: "sg-find-about" }, element("span", { textContent: KINDS[kind] || kind || "" }));
    if (kind === "rule" && WORDS[severity]) told.append(pill(severity));
    if (WORDS[status]) told.append(element("span", { className: `sg-dot sg-dot--${status}`, textContent: WORDS[status] }));
    return told;
  };

  const plain = (escaped) => {
    const area = document.createElement("textarea");
    area.innerHTML = escaped;
    return area.value;
  };

  /* Pagefind's excerpts are escaped text with <mark> around the words found; only those marks are kept. */
  const excerpt = (html) => element("p", {}, ...html.split(/(<mark>.*?<\/mark>)/).map((piece) => {
    const marked = /^<mark>(.*)<\/mark>$/.exec(piece);
    return marked ? element("mark", { textContent: plain(marked[1]) }) : plain(piece);
  }));

  /* Text around [from, to) of `text`, which is marked, from `start` on at the earliest. */
  const around = (text, start, from, to) => {
    const first = Math.max(start, from - AROUND), last = Math.min(text.length, to + AROUND);
    return element("p", {},
      (first > start ? "…" : "") + text.slice(first, from),
      element("mark", { textContent: text.slice(from, to) }),
      text.slice(to, last) + (last < text.length ? "…" : ""));
  };

  /* Chinese is found by pairs that stand nowhere in the text, so where it stands is looked up here: the headings below
     which it does, those with the most of it first. A heading knows its place as a count of words. */
  const places = (page, asked) => {
    const text = page.raw_content || "", starts = [...text.matchAll(/\S+/g)].map((word) => word.index);
    const heads = (page.anchors || []).filter((one) => /^h[1-6]$/.test(one.element) && one.id);
    const from = heads.map((one) => (one.location < starts.length ? starts[one.location] : text.length));
    const found = new Map();
    for (const words of asked) {
      for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
        const place = from.findLastIndex((start) => start <= at);
        const known = found.get(place);
        if (known) known.often += 1;
        else found.set(place, { often: 1, text: around(text, Math.max(0, from[place] || 0), at, at + words.length), head: heads[place] });
      }
    }
    return [...found.values()].sort((a, b) => b.often - a.often).map(({ head, text }) => (
      { url: head ? `${page.url}#${encodeURIComponent(head.id)}` : "", title: head ? head.text : "", text }
    ));
  };

  /* Incidents of a page by the rules that were asked for, with the words below their headings. */
  const incidents = (page, codes) => {
    const said = (page.raw_content || "").split(/\s+/), anchors = page.anchors || [];
    return (page.meta.found || "").split(" ").map((one) => one.split("=")[0])
      .filter((at) => codes.some((code) => at.startsWith(`${code}-`)))
      .map((at) => anchors.find((one) => one.id === `${at}-title`)).filter(Boolean)
      .map(({ id, text, location }) => {
        const words = said.slice(location, location + BELOW).join(" ");
        const rest = words.replace(text, "").replace(/^[.\s]+/, "");
        return { url: `${page.url}#${encodeURIComponent(id)}`, title: text, text: element("p", {}, `${rest}…`) };
      });
  };

  /* Places of a page: incidents that were asked for, else those first whose heading says most of what was. */
  const parts = (page, words, asked, codes) => {
    const happened = incidents(page, codes);
    if (happened.length) return happened.slice(0, MOST);
    const own = asked.length ? places(page, asked) : [];
    const all = own.length ? own : (page.sub_results || []).filter((part) => part.url !== page.url)
      .map((part) => ({ url: part.url, title: part.title, text: excerpt(part.excerpt) }));
    const said = (part) => words.filter((word) => part.title.toLowerCase().includes(word)).length;
    return all.map((part) => [said(part), part]).sort((a, b) => b[0] - a[0]).slice(0, MOST).map((pair) => pair[1]);
  };

  /* A page as an item of the list that answers `text`; `asked` are the Chinese words in it, `codes` the rules
     that it is about. */
  const entry = (page, text, asked, codes) => {
    const severity = new Map((page.meta.found || "").split(" ").map((one) => one.split("=")));
    const item = element("li", {}, element("div", { className: "sg-find-head" }, link(page.url, page.meta.title), about(page)));
    const words = asked.length ? asked : text.toLowerCase().split(/\s+/).filter(Boolean);
    const told = parts(page, words, asked, codes);
    if (!told.length) item.append(excerpt(page.excerpt));
    for (const part of told) {
      if (!part.url) {
        item.append(part.text);
        continue;
      }
      const url = part.url.replace(/-title$/, ""); /* the card, not its heading */
      const line = element("div", { className: "sg-find-head" }, link(url, part.title));
      const word = severity.get(decodeURIComponent(url.split("#")[1] || ""));
      if (WORDS[word]) line.append(pill(word));
      item.append(element("div", { className: "sg-find-part" }, line, part.text));
    }
    return item;
  };

  sitegen.finds = { KINDS, WORDS, entry };
})();
