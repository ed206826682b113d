// Drives a headless Chromium over its DevTools pipe, with nothing but node's own modules.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WAIT_MS = 60_000;

export class Browser {
  static async start(binary) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "subcell-page-"));
    const flags = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
      `--user-data-dir=${browser.profile}`, "about:blank",
    ];
    browser.process = spawn(binary, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.process.on("error", (error) => browser.fail(error));
    browser.process.on("exit", (code) => browser.fail(new Error(`chromium ended with ${code}`)));
    browser.next = 1;
    browser.waiting = new Map();
    browser.listeners = [];
    let text = "";
    browser.process.stdio[4].on("data", (piece) => {
      text += piece;
      const messages = text.split("\0");
      text = messages.pop();
      for (const message of messages) browser.take(JSON.parse(message));
    });
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    browser.session = sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await browser.page(`${domain}.enable`);
    return browser;
  }

  fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  take(message) {
    if (message.id) {
      const { resolve, reject, timer } = this.waiting.get(message.id) ?? {};
      this.waiting.delete(message.id);
      clearTimeout(timer);
      if (message.error) reject?.(new Error(JSON.stringify(message.error))); else resolve?.(message.result);
    } else {
      for (const listener of this.listeners) listener(message);
    }
  }

  send(method, params = {}, sessionId) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} took more than ${WAIT_MS} ms`)), WAIT_MS);
      this.waiting.set(id, { resolve, reject, timer });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  page(method, params) {
    return this.send(method, params, this.session);
  }

  // The value of an expression in the page; a promise is waited for.
  async value(expression) {
    const { result, exceptionDetails } = await this.page("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  // Waits until an expression holds, looking at each frame that is drawn.
  async until(expression) {
    const held = await this.value(`new Promise((done) => {
      const end = performance.now() + ${WAIT_MS / 2};
      const look = () => { if (${expression}) done(true); else if (performance.now() > end) done(false); else setTimeout(look, 10); };
      look();
    })`);
    if (!held) throw new Error(`never became true: ${expression}`);
  }

  async open(url) {
    const loaded = new Promise((resolve) => {
      const listener = (message) => {
        if (message.method === "Page.loadEventFired") { this.listeners.splice(this.listeners.indexOf(listener), 1); resolve(); }
      };
      this.listeners.push(listener);
    });
    await this.page("Page.navigate", { url });
    await loaded;
  }

  async key(key, code, text) {
    const shared = { key, code, windowsVirtualKeyCode: key.length === 1 ? key.toUpperCase().charCodeAt(0) : key === "Enter" ? 13 : 0 };
    await this.page("Input.dispatchKeyEvent", { type: "keyDown", text: text ?? (key === "Enter" ? "\r" : key.length === 1 ? key : undefined), ...shared });
    await this.page("Input.dispatchKeyEvent", { type: "keyUp", ...shared });
  }

  async screenshot() {
    const { data } = await this.page("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.removeAllListeners("error");
    await this.send("Browser.close").catch(() => this.process.kill("SIGKILL"));
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
