"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const lower = (node) => (node ? node.textContent : "").toLowerCase();
  const bar = document.querySelector(".bar"), search = byId("search"), chips = all(".chip");
  const wide = matchMedia("(min-width: 64rem)");

  // The text to be searched is read once: the head of each item, which stands for the whole item, and its rows.
  const items = all(".item").map((item) => {
    const { kind = "", paper = "" } = item.dataset;
    const head = [item.id, lower(item.querySelector(".head")), lower(item.querySelector(".how"))].join(" ").toLowerCase();
    const rows = all("table.data > tbody > tr", item).map((row) => {
      const { paper: of = paper, verdict = "" } = row.dataset;
      const link = row.querySelector("th a");
      return { row, of, verdict, text: `${lower(row)} ${row.id} ${link ? link.hash : ""}#`.toLowerCase() };
    });
    return { item, kind, paper, head, rows, details: item.querySelector("details.rows"), opened: false };
  });

  const filters = () => {
    const chosen = { paper: [], kind: [], verdict: [] };
    for (const chip of chips)
      if (chip.getAttribute("aria-pressed") === "true") chosen[chip.closest("fieldset").dataset.filter].push(chip.value);
    return { ...chosen, words: search.value.toLowerCase().split(/\s+/).filter(Boolean) };
  };

  const apply = () => {
    const { paper, kind, verdict, words } = filters();
    const any = paper.length + kind.length + verdict.length + words.length > 0;
    const fits = (some, value) => !some.length || some.includes(value);
    let shown = 0;
    for (const it of items) {
      const right = fits(kind, it.kind);
      const whole = right && !verdict.length && fits(paper, it.paper) && words.every((w) => it.head.includes(w));
      let found = 0;
      for (const r of it.rows) {
        const fit = whole || (right && fits(paper, r.of) && fits(verdict, r.verdict) &&
          words.every((w) => it.head.includes(w) || r.text.includes(w)));
        r.row.hidden = !fit;
        found += fit;
      }
      it.item.hidden = !(whole || found);
      if (it.item.hidden) continue;
      shown += 1;
      if (it.details && any && !whole && !it.details.open) it.details.open = it.opened = true;
    }
    for (const it of items) if (it.opened && (!any || it.item.hidden)) it.details.open = it.opened = false;
    for (const section of all("main > section"))
      section.hidden = any && !section.querySelector(".item:not([hidden])");
    byId("found").hidden = !any;
    byId("none").hidden = !any || shown > 0;
    byId("count").textContent = `Found: ${shown} figure${shown === 1 ? "" : "s"} and tables.`;
    byId("found").dataset.words = search.value; // the filter is applied
    measure();
    return any;
  };

  const clear = () => {
    search.value = "";
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    apply();
  };
  const filtered = () => { if (apply()) scrollTo(0, 0); };
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  const opened = (open) => {
    bar.classList.toggle("open", open);
    byId("more").setAttribute("aria-expanded", String(open));
    measure();
  };

  // A link shows its target, also if the target is filtered away or folded.
  const reveal = (hash) => {
    const target = hash.length > 1 && byId(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) clear();
    for (let at = target.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    return target;
  };

  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filtered, 120); });
  for (const chip of chips)
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      filtered();
    });
  byId("clear").addEventListener("click", () => { clear(); search.focus(); });
  byId("more").addEventListener("click", () => opened(!bar.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); search.focus(); search.select(); }
    if (event.key === "Escape" && !byId("found").hidden) clear();
  });

  const order = (head) => {
    const body = head.closest("table").tBodies[0], at = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const values = [...body.rows].map((row) => {
      const text = row.cells[at] ? row.cells[at].textContent.trim() : "";
      return { row, text, number: text === "" ? NaN : Number(text.replaceAll(",", "")) };
    });
    const numbers = values.every((v) => v.text === "" || !Number.isNaN(v.number));
    const empty = (v) => (v.text === "" ? 1 : 0);
    values.sort((a, b) => empty(a) - empty(b) ||
      (down ? -1 : 1) * (numbers ? a.number - b.number || 0 : a.text.localeCompare(b.text, "en", { numeric: true })));
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...values.map((v) => v.row));
  };
  for (const head of all("table.data thead th")) {
    head.tabIndex = 0;
    head.title = "Sort";
  }
  const sorts = (event) => event.target.closest && event.target.closest("table.data thead th");
  document.addEventListener("click", (event) => {
    const head = sorts(event), link = event.target.closest("a[href^='#']"), find = event.target.closest(".find");
    if (head) order(head);
    if (link) reveal(link.hash);
    if (find) {
      clear();
      search.value = `#${find.dataset.find}#`;
      for (const chip of chips)
        if (chip.value === "statement" || chip.value === find.dataset.verdict) chip.setAttribute("aria-pressed", "true");
      filtered();
    }
  });
  document.addEventListener("keydown", (event) => {
    const head = sorts(event);
    if (head && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); order(head); }
  });

  byId("contents").open = wide.matches;
  addEventListener("resize", measure);
  addEventListener("hashchange", () => { const at = reveal(location.hash); if (at) at.scrollIntoView(); });
  opened(wide.matches);
  const start = reveal(location.hash);
  if (start) start.scrollIntoView();
})();
