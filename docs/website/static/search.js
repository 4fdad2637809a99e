// The search of the site. The index is written by docs/website/search_index.py, which splits and stems words in
// the same way. This file has no imports, so that it works in a page that was opened from a disk.
"use strict";
const siteSearch = globalThis.siteSearch = { index: null };
{
  const WORD = /[\p{L}\p{N}][\p{L}\p{N}_/.@+-]*/gu;
  const PARTS = /[_/.@+-]+/u;
  const PATH = /[/.]+/u, NAME = /[_@+-]/u;
  const HAN = /[\u4e00-\u9fff]+/gu;
  const GREEK = Object.fromEntries(
    ("α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lamda μ mu ν nu ξ xi ο omicron"
      + " π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega").split(" ").reduce(
      (pairs, each, at, all) => (at % 2 ? [...pairs, [all[at - 1], each]] : pairs), []));
  const MEANINGS = { zero: "0", slope: "gradient", slopes: "gradient", derivative: "gradient" };
  const PREFIX = 0.6;  // of the impact of a word that only begins like the one that was typed
  const BELOW = 0.3, ABOVE = 0.4;  // of the impact of a section in the score of its page, and the reverse
  const TITLE = 0.5, EXACT = 1.5;  // bonus, times the sum of the words' impacts
  const SAME_PAGE = 2;  // results of one page
  const NAMED = 1.6;  // factor of a kind that the query names, as in "GRPO exercise"
  const REPEATED = 0.84;  // factor for each better result of the same kind

  const plain = (text) => [...text.toLowerCase()].map((each) => (each in GREEK ? ` ${GREEK[each]} ` : each)).join("");
  const stemmer = () => siteSearch.stemmer ??= new EnglishStemmer();
  const one = (word) => stemmer().stemWord(Object.hasOwn(MEANINGS, word) ? MEANINGS[word] : word);

  function* stems(word) {
    word = word.replace(/[/.@-]+$/u, "");
    const han = word.match(HAN);
    const parts = word.split(PARTS).filter(Boolean);
    if (han) {
      for (const run of han)
        for (let at = 0; at < Math.max(1, run.length - 1); at++) yield run.slice(at, at + 2);
    } else if (parts.length > 1 || word.endsWith("+")) {
      yield word;
      if (PATH.test(word)) yield* word.split(PATH).filter((name) => NAME.test(name));
      yield* parts.map(one);
    } else yield one(word);
  }

  /** The stems of the words of a text, as `stems` of search_index.py returns them. */
  siteSearch.stems = (text) => (plain(text).match(WORD) ?? []).flatMap((word) => [...stems(word)]);

  /** The words of a text that decide something: all but stop words, if there are others. */
  function deciding(text) {
    const typed = plain(text).match(WORD) ?? [];
    const stop = new Set(siteSearch.index.stop);
    const kept = typed.filter((word) => !stop.has(word));
    return kept.length ? kept : typed;
  }

  /** The number of the page that each entry belongs to, by number of the entry. */
  function pages() {
    let page = 0;
    return siteSearch.pages ??= siteSearch.index.entries.map(([address], at) => (page = address[0] === "#" ? page : at));
  }

  /** The longest word of the index with which an unknown word begins: another form, or another stem of it. */
  function shortened(stem) {
    for (let length = stem.length - 1; length >= Math.max(4, 0.6 * stem.length); length--)
      if (Object.hasOwn(siteSearch.index.words, stem.slice(0, length))) return stem.slice(0, length);
    return "";
  }

  /** The entries that have a word, with its impact; `isUnfinished`: also words that begin with it. */
  function impacts(stem, typed, isUnfinished) {
    const { words } = siteSearch.index;
    const own = new Map();
    const add = (packed, factor) => {
      for (let at = 0, entry = 0; at < packed.length; at += 2) {
        entry += packed[at];
        own.set(entry, Math.max(own.get(entry) ?? 0, packed[at + 1] * factor));
      }
    };
    const known = Object.hasOwn(words, stem) ? stem : shortened(stem);
    if (known) add(words[known], 1);
    if (isUnfinished && typed.length > 1) {
      const longer = Object.keys(words).filter((word) => word.startsWith(typed) && word !== stem);
      for (const word of longer.slice(0, 40)) add(words[word], PREFIX);
    }
    return own;
  }

  /** The impacts of a word, where a page shares in its sections, and a section that matches any word in its page. */
  function shared(own, matches) {
    const all = new Map(own), best = new Map();
    for (const [entry, impact] of own) {
      const page = pages()[entry];
      if (page !== entry) best.set(page, Math.max(best.get(page) ?? 0, BELOW * impact));
    }
    for (const [page, impact] of best) all.set(page, (own.get(page) ?? 0) + impact);
    for (const match of matches)
      for (const entry of match.keys()) {
        const page = pages()[entry];
        if (page !== entry && own.has(page))
          all.set(entry, Math.max(own.get(entry) ?? 0, ABOVE * own.get(page)));
      }
    return all;
  }

  /**
   * The results of a query, the best first: `{address, title, above, kind, lead, score}`.
   * A result scores the sum of its words' impacts, times the share of the query that it has, times the factor of
   * its kind. A title that consists of the query's words, and a title or alias that is the query, add to it.
   */
  siteSearch.search = (query, most = 30) => {
    const { entries, kinds, exact } = siteSearch.index;
    const typed = deciding(query);
    const isUnfinished = !/[\s.,?!)]$/u.test(query);
    const terms = typed.flatMap((word, at) =>
      [...stems(word)].map((stem, part, all) => ({
        stem, word,
        isLast: isUnfinished && at === typed.length - 1 && part === all.length - 1,
      })));
    const matches = terms.map(({ stem, word, isLast }) => impacts(stem, word, isLast)).filter(({ size }) => size);
    const scores = new Map(), shares = new Map();
    let whole = 0;
    for (const own of matches) {
      const largest = Math.max(...own.values());
      whole += largest;
      for (const [entry, impact] of shared(own, matches)) {
        scores.set(entry, (scores.get(entry) ?? 0) + impact);
        shares.set(entry, (shares.get(entry) ?? 0) + largest);
      }
    }
    const asked = new Set(terms.map(({ stem }) => stem));
    const answers = new Set(exact[terms.map(({ stem }) => stem).join(" ")] ?? []);
    const results = [...scores].map(([entry, sum]) => {
      const page = pages()[entry];
      const [place, title, over, number, lead] = entries[entry];
      const [kind, factor] = kinds[number];
      const address = page === entry ? place : entries[page][0] + place;
      const above = page === entry ? over : entries[page][1];
      const share = shares.get(entry) / whole;
      const inTitle = deciding(page === entry ? title : `${above} ${title}`).flatMap((word) => [...stems(word)]);
      const covered = inTitle.filter((word) => asked.has(word)).length / Math.max(1, inTitle.length);
      const bonus = whole * (TITLE * covered * share + EXACT * answers.has(entry));
      const named = siteSearch.stems(kind).every((stem) => asked.has(stem)) ? NAMED : 1;
      return { address, title, above, kind, lead, score: (sum * share ** 1.5 + bonus) * factor * named };
    });
    results.sort((a, b) => b.score - a.score || a.address.length - b.address.length);
    const ofPage = new Map();
    const kept = results.filter(({ address }) => {
      const page = address.startsWith("course/") ? address : address.split("#")[0];
      ofPage.set(page, (ofPage.get(page) ?? 0) + 1);
      return ofPage.get(page) <= SAME_PAGE;
    });
    return mixed(kept, most);
  };

  /** The first results, chosen one after the other, so that several kinds are among them. */
  function mixed(results, most) {
    const chosen = [], rest = results.slice(0, 4 * most), ofKind = new Map();
    const worth = ({ kind, score }) => score * REPEATED ** (ofKind.get(kind) ?? 0);
    while (rest.length && chosen.length < most) {
      const best = rest.reduce((one, other) => (worth(other) > worth(one) ? other : one));
      chosen.push(...rest.splice(rest.indexOf(best), 1));
      ofKind.set(best.kind, (ofKind.get(best.kind) ?? 0) + 1);
    }
    return chosen;
  }
}
