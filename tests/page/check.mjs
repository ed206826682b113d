// Checks a page of `subcell replay html` in a browser: check.mjs PAGE [--large PAGE] [--axe FILE] [--shots DIR]
import assert from "node:assert/strict";
import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Browser } from "./devtools.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { large: { type: "string" }, axe: { type: "string" }, shots: { type: "string" }, chromium: { type: "string", default: "chromium" } },
});
const page = pathToFileURL(resolve(positionals[0])).href;
const browser = await Browser.start(values.chromium);
const complaints = [];
const requests = [];
browser.listeners.push(({ method, params }) => {
  if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === "Runtime.consoleAPICalled") complaints.push(`console.${params.type}: ${params.args.map((arg) => arg.value).join(" ")}`);
  if (method === "Log.entryAdded") complaints.push(`${params.entry.source}: ${params.entry.text}`);
  if (method === "Network.requestWillBeSent" && !params.request.url.startsWith("data:")) requests.push(params.request.url);
});

const shown = "[...document.querySelectorAll('.row')].filter((row) => row.offsetParent !== null)";
const here = "document.querySelector('.row.here')";
let done = 0;
async function check(name, body) {
  await body();
  done += 1;
  console.log(`ok  ${name}`);
}
async function ready(url) {
  // Another fragment alone does not load the page again.
  await browser.open("about:blank");
  await browser.open(url);
  await browser.until("document.documentElement.dataset.ready === 'true'");
}
async function size(width, height) {
  await browser.page("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
}
async function scheme(value) {
  await browser.page("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
}
async function shot(name) {
  if (!values.shots) return;
  mkdirSync(values.shots, { recursive: true });
  writeFileSync(join(values.shots, `${name}.png`), await browser.screenshot());
}
async function contrast(name) {
  if (!values.axe) return;
  await check(`contrast and names, ${name}`, async () => {
    await browser.value(`${readFileSync(values.axe, "utf8")}; true`);
    const found = await browser.value(`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }).then((result) => ({
      violations: result.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join(" | ")),
      contrast: result.passes.filter((p) => p.id === "color-contrast").flatMap((p) => p.nodes).length }))`);
    assert.deepEqual(found.violations, []);
    assert.ok(found.contrast > 20, `contrast was judged on ${found.contrast} elements`);
  });
}

try {
  await size(1280, 900);
  await scheme("light");
  await ready(page);
  await check("opens with rows, and cells under their calls", async () => {
    assert.ok(await browser.value(`${shown}.length`) > 10);
    assert.ok(await browser.value(`${shown}.some((row) => row.classList.contains('session') && row.style.getPropertyValue('--depth') === '1')`));
  });
  await shot("light");
  await contrast("light");

  await check("an event opens and closes", async () => {
    const head = `${shown}.find((row) => row.classList.contains('call')).querySelector('.head')`;
    await browser.value(`${head}.click()`);
    assert.equal(await browser.value(`${head}.getAttribute('aria-expanded')`), "true");
    assert.ok((await browser.value(`${head}.parentElement.querySelector('.body').textContent`)).length > 10);
    await browser.value(`${head}.click()`);
    assert.equal(await browser.value(`${head}.parentElement.querySelector('.body')`), null);
  });
  await check("a session folds and unfolds", async () => {
    const before = await browser.value(`${shown}.length`);
    const session = `${shown}.filter((row) => row.classList.contains('session'))[1].querySelector('.head')`;
    await browser.value(`${session}.click()`);
    assert.ok(await browser.value(`${shown}.length`) < before);
    await browser.value(`${session}.click()`);
    assert.equal(await browser.value(`${shown}.length`), before);
    await browser.key("f", "KeyF");
    assert.ok(await browser.value(`${shown}.length`) < before);
    await browser.key("f", "KeyF");
    assert.equal(await browser.value(`${shown}.length`), before);
  });
  await check("the client's notes can be shown: every entry is there", async () => {
    const before = await browser.value(`${shown}.length`);
    await browser.key("n", "KeyN");
    assert.ok(await browser.value(`${shown}.length`) > before);
    await browser.key("n", "KeyN");
  });
  await check("search finds in contents, shows where, and goes on", async () => {
    await browser.key("/", "Slash");
    assert.equal(await browser.value("document.activeElement.id"), "query");
    await browser.page("Input.insertText", { text: "JUDGE-VERDICT 4/5" });
    await browser.key("Enter", "Enter");
    const first = await browser.value(`${here}.id`);
    assert.ok(await browser.value(`${here}.querySelector('mark') !== null`));
    const hits = await browser.value("document.getElementById('hits').value");
    assert.match(hits, /^\d+ of [2-9]\d*$/);
    await browser.key("Enter", "Enter");
    assert.notEqual(await browser.value(`${here}.id`), first);
    await browser.value("document.activeElement.blur(); document.getElementById('query').value = ''");
  });
  await check("jumps to the next prompt, cell and error", async () => {
    await ready(page);
    await browser.key("p", "KeyP");
    assert.ok(await browser.value(`${here}.classList.contains('user')`));
    await browser.value("document.querySelector('[data-jump=cell]').click()");
    assert.match(await browser.value(`${here}.textContent`), /cell/);
    await browser.value("document.activeElement.blur()");
    await browser.key("e", "KeyE");
    assert.ok(await browser.value(`${here}.classList.contains('fault')`));
  });
  await check("plays on, and stops", async () => {
    await ready(page);
    await browser.value("document.getElementById('speed').value = '20'");
    await browser.value("document.getElementById('play').click()");
    await browser.until(`Number(${here}.id.slice(4)) > 5`);
    await browser.value("document.getElementById('play').click()");
    assert.equal(await browser.value("document.getElementById('play').getAttribute('aria-pressed')"), "false");
  });
  await check("a tool use id or a session id in the fragment opens its turn", async () => {
    await ready(`${page}#toolu_0000_0`);
    assert.ok(await browser.value(`${here}.classList.contains('call') && ${here}.querySelector('.body') !== null`));
    const session = await browser.value("JSON.parse(document.querySelector('script.sessions').textContent).find((s) => s.what === 'cell').session");
    await browser.value(`location.hash = '#${session}'`);
    await browser.until(`${here} && ${here}.textContent.includes('${session}')`);
    await browser.value("location.hash = '#%'; location.hash = '#no-such-id'");
  });

  await ready(page);
  await browser.value("document.getElementById('expand').click()");
  await scheme("dark");
  await shot("dark");
  await contrast("dark");
  await check("the theme can be switched by hand", async () => {
    const back = "getComputedStyle(document.body).backgroundColor";
    const dark = await browser.value(back);
    await browser.key("t", "KeyT");
    assert.notEqual(await browser.value(back), dark);
  });
  await scheme("light");
  await size(390, 844);
  await ready(page);
  await browser.value(`${shown}.find((row) => row.classList.contains('call')).querySelector('.head').click()`);
  await shot("phone");
  await contrast("phone");
  await check("nothing is wider than a phone", async () => {
    assert.ok(await browser.value("document.documentElement.scrollWidth <= innerWidth"));
  });

  if (values.large) {
    await size(1280, 900);
    await check("10 000 events are quick", async () => {
      await ready(pathToFileURL(resolve(values.large)).href);
      const figures = await browser.value(`(() => {
        const timed = (work) => { const start = performance.now(); work(); document.body.offsetHeight; return Math.round(performance.now() - start); };
        return {
          events: JSON.parse(document.querySelector('script.summary').textContent).shown,
          load: Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd),
          end: timed(() => { document.getElementById('position').value = document.getElementById('position').max; document.getElementById('position').dispatchEvent(new Event('input')); }),
          fold: timed(() => document.getElementById('fold').click()),
          notes: timed(() => document.getElementById('notes').click()),
          search: timed(() => { document.getElementById('query').value = 'needle-of-the-last-event'; document.getElementById('search').requestSubmit(); }),
          hits: document.getElementById('hits').value,
        };
      })()`);
      console.log(`    ${JSON.stringify(figures)}`);
      assert.ok(figures.events >= 10_000);
      assert.equal(figures.hits, "1 of 1");
      // Generous, for a machine that does other things besides: quick is well under a second each.
      for (const what of ["end", "fold", "notes"]) assert.ok(figures[what] < 1500, `${what} took ${figures[what]} ms`);
      for (const what of ["load", "search"]) assert.ok(figures[what] < 5000, `${what} took ${figures[what]} ms`);
    });
  }

  await check("no complaint on the console and no request", async () => {
    assert.deepEqual(complaints, []);
    assert.deepEqual(requests.filter((url) => !url.startsWith("file:") && url !== "about:blank"), []);
    assert.ok(requests.every((url) => url.split("#")[0] === page || url === "about:blank" || (values.large && url === pathToFileURL(resolve(values.large)).href)));
  });
  console.log(`${done} checks passed`);
} finally {
  await browser.stop();
}
