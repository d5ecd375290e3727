/* Which pages answer a question, and in which order: the card of what is called so first, then where it happened. */
(() => {
  "use strict";

  const WORD = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[\p{L}\p{N}])+/gu;
  const IDEOGRAPH = /^[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
  const LOOKED = 6; /* rule cards whose names are looked at */
  const CARDS = 3; /* of them that a question is about */
  const LEAD = 2; /* runs where it happened, between the first card and the others */

  const tokens = (text) => text.toLowerCase().match(WORD) || [];

  const shared = (a, b) => {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at += 1;
    return at;
  };

  /* Whether two words are forms of one; Chinese is compared as a whole, as it is not split into words. */
  const alike = (a, b) => {
    if (a === b) return true;
    if (IDEOGRAPH.test(a)) return a.length > 1 && b.length > 1 && (a.includes(b) || b.includes(a));
    return Math.min(a.length, b.length) > 3 && shared(a, b) >= 0.75 * Math.max(a.length, b.length);
  };

  /* 2: `name` is what was asked for; 1: it holds all of it, which says enough; 0: it does not. */
  const called = (name, asked) => {
    const own = tokens(name);
    if (!asked.every((word) => own.some((one) => alike(one, word)))) return 0;
    if (own.every((one) => asked.some((word) => alike(one, word)))) return 2;
    return asked.length > 1 || IDEOGRAPH.test(asked[0]) ? 1 : 0;
  };

  /* `results` are all pages that Pagefind found; `codes` the rules that the question is about. */
  const answer = async (pagefind, words, text, chosen) => {
    const { results } = await pagefind.search(words || null, { filters: chosen });
    const asked = tokens(text);
    if (!asked.length || chosen.rule) return { results, codes: [] };
    const cards = (await pagefind.search(words, { filters: { kind: "rule" } })).results.slice(0, LOOKED);
    const looked = await Promise.all(cards.map(async (card) => {
      const { meta, filters } = await card.data();
      const names = [meta.title, meta.title.replace(/^\S+ /, ""), ...(meta.also || "").split(" | ")];
      return { card, code: filters.rule[0], fits: Math.max(...names.map((name) => called(name, asked))) };
    }));
    const best = Math.max(0, ...looked.map((one) => one.fits));
    if (!best) return { results, codes: [] };
    const about = looked.filter((one) => one.fits === best).slice(0, CARDS), codes = about.map((one) => one.code);
    const happened = !chosen.kind || chosen.kind === "run" ? await incidents(pagefind, codes, chosen) : [];
    const known = (list) => new Set(list.map((one) => one.id)), found = known(results), where = known(happened);
    const own = about.map((one) => one.card).filter((one) => found.has(one.id));
    const runs = once(results.filter((one) => where.has(one.id)), happened);
    return { results: once(own.slice(0, 1), runs.slice(0, LEAD), own, runs, results), codes };
  };

  /* Runs where rules fired. They name the rule: to ask by filters alone makes Pagefind load its whole index. */
  const incidents = async (pagefind, codes, chosen) => {
    const found = codes.map((rule) => pagefind.search(rule, { filters: { ...chosen, kind: "run", rule } }));
    return once(...(await Promise.all(found)).map((one) => one.results));
  };

  /* The lists one after the other, each page once. */
  const once = (...lists) => [...new Map(lists.flat().map((one) => [one.id, one])).values()];

  /* Whether a page really holds what was asked for: Pagefind answers an unknown word with pages that hold words which
     begin like it, down to its first letter. The end of a longer word may differ: "collapsing" is in "collapse". */
  const holds = (page, text) => {
    const all = [page.meta.title, page.meta.also, page.meta.pairs, page.raw_content].join(" ").toLowerCase();
    let bare = null;
    return tokens(text).every((word) => {
      if (IDEOGRAPH.test(word)) return [...word].every((sign, at) => !at || all.includes(word[at - 1] + sign)) && all.includes(word[0]);
      const stem = word.slice(0, Math.max(3, Math.ceil(word.length * 0.6)));
      if (all.includes(stem)) return true;
      bare = bare || all.replace(/[^\p{L}\p{N}]+/gu, "");
      return bare.includes(stem);
    });
  };

  window.sitegen.answers = { answer, holds };
})();
