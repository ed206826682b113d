"use strict";
// Shows the data of this page. Every value of it is put in as text; nothing is ever read as markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const read = (element) => JSON.parse(element.textContent);
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // ---- data ----------------------------------------------------------------------------------------------------
  const sessions = read(document.querySelector("script.sessions"));
  const summary = read(document.querySelector("script.summary"));
  const rows = [];
  const blocks = [];
  for (const heads of document.querySelectorAll("script.heads")) {
    const block = { first: rows.length, bodies: heads.nextElementSibling, built: false, element: make("div", "block") };
    for (const row of read(heads)) {
      row.block = block;
      row.at_ms = Date.parse(row.at);
      row.folds = 0; // how many folded sessions it is in
      rows.push(row);
    }
    block.end = rows.length;
    blocks.push(block);
  }
  // Where each session ends, so that it can be folded; and what ids lead to.
  const places = new Map();
  const remember = (id, index) => { if (id && !places.has(id)) places.set(id, index); };
  const open = [];
  rows.forEach((row, index) => {
    if (row.row === "open") {
      open.push(row);
      row.folded = false;
      const session = sessions[row.session];
      row.depth = session.depth;
      if (session.agent) remember(session.agent, index); else remember(session.session, index);
    } else if (row.row === "close") {
      const opened = open.pop();
      if (opened) opened.end = index;
    } else {
      row.depth = sessions[row.session].depth + 1;
      remember(row.id, index);
    }
  });
  for (const row of open) row.end = rows.length;
  const isNote = (row) => row.role === "other" && !row.fault;
  const jumps = {
    prompt: (row) => row.role === "user" && !row.label,
    error: (row) => Boolean(row.fault) || row.role === "broken" || (row.row === "open" && sessions[row.session].failed),
    cell: (row) => row.row === "open" && ["cell", "no_cell"].includes(sessions[row.session].what),
  };

  // ---- what is shown ---------------------------------------------------------------------------------------------
  let notes = false;
  let expanded = false;
  let here = 0;
  let query = "";
  const isShown = (row) => row.row !== "close" && row.folds === 0 && (notes || !isNote(row));

  // The block that was read last: what is opened next is mostly in it.
  let lastRead = {};
  const bodiesOf = (block) => {
    if (lastRead.block !== block) lastRead = { block, bodies: read(block.bodies) };
    return lastRead.bodies;
  };
  const bodyOf = (index) => bodiesOf(rows[index].block)[index - rows[index].block.first];

  const money = (usd, atLeast) => usd === null ? "cost unknown" : (atLeast ? "at least $" : "$") + usd.toFixed(usd > 0 && usd < 0.001 ? 7 : 4);
  const used = (totals) => `${totals.turns} ${totals.turns === 1 ? "turn" : "turns"} · ${totals.tokens.input} in, ${totals.tokens.output} out · ${money(totals.cost_usd, totals.at_least)}`;
  const sessionTitle = (session) => [
    session.what.replace("_", " "), session.agent || session.session, session.agent_type,
    session.description && `“${session.description}”`,
  ].filter(Boolean).join(" ");

  function headOf(row) {
    const head = make("button", "head");
    head.type = "button";
    if (row.row === "open") {
      const session = sessions[row.session];
      head.append(make("span", "time", (session.first || "").slice(11, 23)), make("span", "what", sessionTitle(session)),
        make("span", "said", session.ending || ""), make("span", "used", used(session.totals)));
      head.setAttribute("aria-expanded", String(!row.folded));
    } else {
      const what = [row.role, row.label, row.fault === "refused" ? "REFUSED" : row.fault ? "ERROR" : "", row.copied ? "(copied)" : ""];
      head.append(make("span", "time", (row.at || "").slice(11, 23)), make("span", "what", what.filter(Boolean).join(" ")),
        make("span", "said", row.summary));
      if (row.turn) head.append(make("span", "used", row.turn));
      head.setAttribute("aria-expanded", String(Boolean(row.opened)));
    }
    return head;
  }

  function elementOf(index) {
    const row = rows[index];
    const failed = row.fault || (row.row === "open" && sessions[row.session].failed);
    const element = make("div", `row ${row.row === "open" ? "session" : row.role}${failed ? " fault" : ""}`);
    element.id = `row-${index}`;
    element.style.setProperty("--depth", Math.min(row.depth, 12));
    element.append(headOf(row));
    if (index === here) element.classList.add("here");
    return element;
  }

  function build(block) {
    if (block.built) return;
    block.built = true;
    for (let index = block.first; index < block.end; index += 1) {
      const row = rows[index];
      if (row.row === "close") continue;
      row.element = elementOf(index);
      block.element.append(row.element);
      if (expanded && row.row === "event") row.opened = true;
      if (row.opened) showBody(index);
    }
    refresh(block);
  }

  function refresh(block) {
    let shown = 0;
    for (let index = block.first; index < block.end; index += 1) {
      const row = rows[index];
      const visible = isShown(row);
      shown += visible ? 1 : 0;
      if (row.element) row.element.hidden = !visible;
    }
    block.element.hidden = shown === 0;
    block.element.style.containIntrinsicSize = `auto ${Math.max(shown, 1) * 28}px`;
    if (!block.built) block.element.style.minHeight = `${shown * 28}px`; else block.element.style.minHeight = "";
  }
  const refreshAll = () => { blocks.forEach(refresh); };

  // ---- an event's content ----------------------------------------------------------------------------------------
  function marked(text, tag = "pre") {
    const element = make(tag);
    const low = query && text.toLowerCase();
    let from = 0;
    // Lower case may have another length in a few languages; then nothing is marked.
    for (let at = low && low.length === text.length ? low.indexOf(query) : -1; at >= 0; at = low.indexOf(query, from)) {
      element.append(text.slice(from, at), make("mark", "", text.slice(at, at + query.length)));
      from = at + query.length;
    }
    element.append(text.slice(from));
    return element;
  }

  function partOf(part) {
    if (part.diff) {
      const diff = make("pre", "diff");
      for (const line of part.diff) diff.append(make("span", line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "", line));
      const whole = make("div");
      whole.append(make("p", "", part.path), diff);
      return whole;
    }
    if (part.picture) {
      const picture = make("img");
      picture.alt = "picture in the transcript";
      picture.src = part.picture;
      return picture;
    }
    if (part.fields) {
      const list = make("dl");
      for (const [name, text] of part.fields) {
        const value = make("dd");
        value.append(marked(text));
        list.append(make("dt", "", name), value);
      }
      return list;
    }
    return marked(part.text);
  }

  function showBody(index) {
    const row = rows[index];
    if (row.body || !row.element) return;
    row.body = make("div", "body");
    for (const part of bodyOf(index)) row.body.append(partOf(part));
    const tools = make("div", "tools");
    const link = make("a", "", row.id ? `link to ${row.id}` : "link to this event");
    link.href = `#${encodeURIComponent(row.id && places.get(row.id) === index ? row.id : `row-${index}`)}`;
    tools.append(link, make("span", "", `${sessions[row.session].file || ""} line ${row.line}`));
    row.body.append(tools);
    row.element.append(row.body);
  }

  function setOpened(index, opened) {
    const row = rows[index];
    if (row.row !== "event" || row.opened === opened) return;
    row.opened = opened;
    if (!row.element) return;
    row.element.firstChild.setAttribute("aria-expanded", String(opened));
    if (opened) showBody(index); else if (row.body) { row.body.remove(); row.body = null; }
  }

  function setFolded(row, folded) {
    if (row.row !== "open" || row.folded === folded) return;
    row.folded = folded;
    const start = rows.indexOf(row);
    for (let index = start + 1; index < row.end; index += 1) rows[index].folds += folded ? 1 : -1;
    if (row.element) row.element.firstChild.setAttribute("aria-expanded", String(!folded));
  }

  const toggle = (index) => {
    const row = rows[index];
    if (row.row === "open") { setFolded(row, !row.folded); refreshAll(); } else setOpened(index, !row.opened);
  };

  // ---- the place where one is ------------------------------------------------------------------------------------
  function goTo(index, { openIt = false, focus = true } = {}) {
    const row = rows[index];
    if (!row) return;
    if (!isShown(row)) {
      if (isNote(row)) setNotes(true);
      for (const session of rows) if (session.row === "open" && session.folded && rows.indexOf(session) < index && index < session.end) setFolded(session, false);
      refreshAll();
    }
    build(row.block);
    if (rows[here].element) rows[here].element.classList.remove("here");
    here = index;
    row.element.classList.add("here");
    if (openIt) setOpened(index, true);
    row.element.scrollIntoView({ block: "center" });
    if (focus) row.element.firstChild.focus({ preventScroll: true });
    byId("position").value = String(index);
  }

  const step = (from, by, fits) => {
    for (let index = from + by; index >= 0 && index < rows.length; index += by) if (fits(rows[index], index)) return index;
    return -1;
  };

  function jump(what, by) {
    const found = step(here, by, jumps[what]);
    if (found < 0) { say(`no ${by > 0 ? "further" : "earlier"} ${what}`); return; }
    goTo(found, { openIt: true });
    say(`${what}, row ${found + 1} of ${rows.length}`);
  }
  const say = (text) => { byId("spoken").textContent = text; };

  // ---- search ------------------------------------------------------------------------------------------------------
  let hits = [];
  const textOf = (part) => part.text || (part.fields ? part.fields.flat().join("\n") : part.diff ? `${part.path}\n${part.diff.join("\n")}` : "");
  function contains(row, body) {
    if (row.row === "open") {
      const session = sessions[row.session];
      return [sessionTitle(session), session.session, session.call, session.ending].some((text) => text && text.toLowerCase().includes(query));
    }
    if (row.row !== "event") return false;
    if ([row.summary, row.label, row.id, row.role].some((text) => text && text.toLowerCase().includes(query))) return true;
    return body.some((part) => textOf(part).toLowerCase().includes(query));
  }
  function search(text) {
    query = text.toLowerCase();
    hits = [];
    if (query) {
      for (const block of blocks) {
        const bodies = bodiesOf(block);
        for (let index = block.first; index < block.end; index += 1) if (contains(rows[index], bodies[index - block.first])) hits.push(index);
      }
    }
    // What is open is marked anew.
    rows.forEach((row, index) => { if (row.body) { row.body.remove(); row.body = null; showBody(index); } });
  }
  function findNext(by) {
    const text = byId("query").value.trim();
    if (text.toLowerCase() !== query) search(text);
    if (hits.length === 0) { byId("hits").value = query ? "none" : ""; return; }
    const next = by > 0 ? hits.find((index) => index > here) ?? hits[0] : hits.findLast((index) => index < here) ?? hits[hits.length - 1];
    byId("hits").value = `${hits.indexOf(next) + 1} of ${hits.length}`;
    goTo(next, { openIt: true, focus: false });
  }

  // ---- playback ------------------------------------------------------------------------------------------------------
  let timer = 0;
  function setPlaying(playing) {
    clearTimeout(timer);
    timer = 0;
    byId("play").setAttribute("aria-pressed", String(playing));
    byId("play").textContent = playing ? "Pause" : "Play";
    if (playing) playOn();
  }
  function playOn() {
    const next = step(here, 1, isShown);
    if (next < 0) { setPlaying(false); return; }
    // As long as it took, but nobody waits longer than two seconds for anything.
    const took = rows[next].at_ms - rows[here].at_ms;
    const wait = Math.min(Math.max(Number.isFinite(took) ? took : 300, 120), 2000) / Number(byId("speed").value);
    timer = setTimeout(() => { goTo(next, { openIt: true, focus: false }); playOn(); }, wait);
  }

  // ---- view ------------------------------------------------------------------------------------------------------------
  function setNotes(shown) {
    notes = shown;
    byId("notes").setAttribute("aria-pressed", String(notes));
    refreshAll();
  }
  function setExpanded(opened) {
    expanded = opened;
    byId("expand").setAttribute("aria-pressed", String(opened));
    for (const block of blocks) if (block.built) for (let index = block.first; index < block.end; index += 1) setOpened(index, opened);
    if (!opened) for (const row of rows) row.opened = false;
  }
  function foldAll() {
    const sessionRows = rows.filter((row) => row.row === "open" && row.depth > 0);
    const folded = sessionRows.some((row) => !row.folded);
    for (const row of sessionRows) setFolded(row, folded);
    refreshAll();
  }
  function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }

  // ---- account -----------------------------------------------------------------------------------------------------------
  function account() {
    const totals = summary.totals;
    byId("total").textContent = `${used(totals)} · ${summary.entries} entries in ${summary.sessions} sessions`;
    const first = rows.length ? sessions[rows[0].session] : undefined;
    if (first) {
      byId("title").textContent = `Replay of ${first.session || first.file || "a run"}`;
      document.title = byId("title").textContent;
    }
    const lines = [];
    const masked = Object.entries(summary.redaction.kinds).map(([kind, count]) => `${count} ${kind}`);
    lines.push(!summary.redaction.on ? "Secrets are not taken out." : masked.length ? `Secrets taken out: ${masked.join(", ")}.` : "No secrets found to take out.");
    if (summary.copied) lines.push(`${summary.copied} entries copied from other sessions, counted there.`);
    if (summary.broken) lines.push(`${summary.broken} broken lines: ${summary.broken_lines.map((line) => `${line.file} line ${line.line}`).join(", ")}.`);
    for (const file of summary.skipped) lines.push(`Passed over: ${file.file} (${file.reason}).`);
    const table = make("table");
    const line = (tag, cells) => { const tr = make("tr"); for (const cell of cells) tr.append(make(tag, "", cell)); table.append(tr); };
    line("th", ["Model", "Turns", "In", "Out", "Cache read", "Cache written", "Cost"]);
    for (const [model, part] of Object.entries(totals.models)) {
      const tokens = part.tokens;
      line("td", [model, part.turns, tokens.input, tokens.output, tokens.cache_read, tokens.cache_write_5m + tokens.cache_write_1h, money(part.cost_usd, false)]);
    }
    byId("account").append(table, ...lines.map((text) => make("p", "", text)));
  }

  // ---- wiring --------------------------------------------------------------------------------------------------------------
  function follow() {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const index = id.startsWith("row-") ? Number(id.slice(4)) : places.get(id);
    if (index !== undefined && rows[index]) goTo(index, { openIt: true });
  }
  const indexOf = (target) => {
    const element = target.closest(".row");
    return element ? Number(element.id.slice(4)) : -1;
  };
  byId("rows").addEventListener("click", (event) => {
    const head = event.target.closest(".head");
    if (!head) return;
    const index = indexOf(head);
    if (rows[here].element) rows[here].element.classList.remove("here");
    here = index;
    rows[index].element.classList.add("here");
    toggle(index);
  });
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); findNext(1); });
  byId("play").addEventListener("click", () => setPlaying(timer === 0));
  byId("position").max = String(Math.max(rows.length - 1, 0));
  byId("position").addEventListener("input", (event) => goTo(Math.max(0, step(Number(event.target.value) - 1, 1, isShown)), { focus: false }));
  byId("fold").addEventListener("click", foldAll);
  byId("expand").addEventListener("click", () => setExpanded(!expanded));
  byId("notes").addEventListener("click", () => setNotes(!notes));
  byId("theme").addEventListener("click", switchTheme);
  for (const button of document.querySelectorAll("[data-jump]")) button.addEventListener("click", () => jump(button.dataset.jump, 1));
  const keys = {
    j: () => goTo(step(here, 1, isShown)), k: () => goTo(step(here, -1, isShown)),
    p: () => jump("prompt", 1), P: () => jump("prompt", -1), e: () => jump("error", 1), E: () => jump("error", -1),
    c: () => jump("cell", 1), C: () => jump("cell", -1), "/": () => byId("query").focus(),
    f: foldAll, o: () => setExpanded(!expanded), n: () => setNotes(!notes), t: switchTheme, " ": () => setPlaying(timer === 0),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.matches("input, select")) {
      if (event.key === "Escape") event.target.blur();
      if (event.key === "Enter" && event.shiftKey && event.target.id === "query") { event.preventDefault(); findNext(-1); }
      return;
    }
    // A button that is not of the timeline keeps its space bar.
    if (event.key === " " && event.target.matches("button:not(.head)")) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  addEventListener("hashchange", follow);

  const main = byId("rows");
  for (const block of blocks) { refresh(block); main.append(block.element); }
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { build(blocks.find((block) => block.element === entry.target)); near.unobserve(entry.target); }
  }, { rootMargin: "1200px" });
  for (const block of blocks) near.observe(block.element);
  if (blocks.length) build(blocks[0]);
  byId("notes").textContent = `Notes (${rows.filter(isNote).length})`;
  account();
  follow();
  document.documentElement.dataset.ready = "true";
})();
