// Re-computes what a page shows from the bytes of the payloads it cites.
(function (findings) {
  "use strict";

  const MARKS = ".num[data-src], .num[data-expression], .num[data-computed], [data-claim], [data-verbatim]";
  const short = (digest) => `${String(digest).slice(0, 12)}…`;

  class Wrong extends Error {}

  function demand(truth, found) {
    if (!truth) throw new Wrong(found);
  }

  function same(payload, digest, path) {
    demand(payload.sha256 === digest, `${path} hashes to ${short(payload.sha256)}, the page states ${short(digest)}`);
  }

  /** A field of a payload whose digest the page states. */
  async function field(read, [path, pointer, digest]) {
    const payload = await read(path);
    same(payload, digest, path);
    return payload.read(pointer);
  }

  async function evaluated(read, tree) {
    const values = new Map();
    for (const each of findings.fields(tree)) values.set(String(each), await field(read, each));
    return findings.evaluate(tree, (...each) => values.get(String(each)));
  }

  async function leaf(mark, read) {
    const [path, pointer] = [mark.getAttribute("data-src"), mark.getAttribute("data-ptr")];
    const payload = await read(path);
    same(payload, mark.getAttribute("data-sha256"), path);
    const node = payload.at(pointer);
    const [stated, form, value] = [mark.getAttribute("value"), mark.getAttribute("data-format"), payload.read(pointer)];
    demand(value === stated || form === "key", `the payload has ${value}, the page states ${stated}`);
    const line = String(payload.line(node));
    demand(line === mark.getAttribute("data-line"), `it stands on line ${line}`);
    demand(payload.span(node) === mark.getAttribute("data-span"), `it stands at bytes ${payload.span(node)}`);
    const link = `${path.replace(/\.json$/, ".html")}#L${line}`;
    const href = mark.querySelector("a")?.getAttribute("href") ?? "";
    demand(decodeURI(href).endsWith(link), `its link leads to ${href}`);
    if (form === "key") {
      const keys = pointer.split("/").slice(1).join(".");
      demand(stated && `.${keys}.`.includes(`.${stated}.`), `it is no part of ${pointer}`);
      return compare(mark, stated);
    }
    const textual = form === "text";
    demand(node.kind === (textual ? "string" : "number"), `the payload holds a ${node.kind} there`);
    compare(mark, textual ? value : findings.shown(findings.exact(value), form, value));
  }

  async function derived(mark, read) {
    const value = await evaluated(read, JSON.parse(mark.getAttribute("data-expression")));
    const [found, stated] = [`${value.n}/${value.d}`, mark.getAttribute("value")];
    demand(found === stated, `the expression gives ${found}, the page states ${stated}`);
    compare(mark, findings.shown(value, mark.getAttribute("data-format")));
  }

  async function claim(mark, read) {
    demand(await evaluated(read, JSON.parse(mark.getAttribute("data-claim"))), "the comparison does not hold");
  }

  async function digest(mark, read) {
    const { sha256 } = await read(mark.getAttribute("data-computed").slice("sha256:".length));
    demand(mark.getAttribute("value") === sha256, `the page states ${short(mark.getAttribute("value"))}`);
    compare(mark, sha256);
  }

  async function verbatim(mark, read) {
    const [path, first, last] = mark.getAttribute("data-verbatim").match(/^(.*)#L(\d+)-L(\d+)$/).slice(1);
    const payload = await read(path);
    same(payload, mark.getAttribute("data-sha256"), path);
    const lines = payload.text.split("\n").slice(first - 1, last);
    const shown = (mark.querySelector("code") ?? mark).textContent.replace(/\n$/, "").split("\n");
    const at = lines.findIndex((line, index) => line !== shown[index]);
    demand(at < 0, `line ${Number(first) + at} differs from the file`);
    demand(shown.length === lines.length, `the page shows ${shown.length} lines of ${lines.length}`);
  }

  function compare(mark, expected) {
    demand(mark.textContent === expected, `the page shows ${mark.textContent}, the payload gives ${expected}`);
  }

  /** How a mark is checked here; undefined where only the build can, since it counts sources. */
  function check(mark) {
    if (mark.hasAttribute("data-claim")) return claim;
    if (mark.hasAttribute("data-expression")) return derived;
    if (mark.hasAttribute("data-src")) return leaf;
    if (mark.hasAttribute("data-verbatim")) return /^payloads\/.*\.json#/.test(mark.dataset.verbatim) ? verbatim : undefined;
    return mark.getAttribute("data-computed").startsWith("sha256:") ? digest : undefined;
  }

  /** One mark: { mark, what, fault, unread }, both empty where it holds, unread where its file did not arrive. */
  async function one(mark, read = findings.library()) {
    const how = check(mark);
    if (!how) return { mark, what: "elsewhere", fault: "", unread: "" };
    const what = how === claim ? "claim" : how === verbatim ? "lines" : "number";
    try {
      await how(mark, read);
      return { mark, what, fault: "", unread: "" };
    } catch (error) {
      if (error instanceof findings.Unread) return { mark, what, fault: "", unread: error.message };
      return { mark, what, fault: error.message || "it cannot be computed", unread: "" };
    }
  }

  /** Every mark of a document or an element. */
  async function all(root, read = findings.library()) {
    const marks = [...root.querySelectorAll(MARKS)].filter((mark) => !mark.closest("[data-live]"));
    return Promise.all(marks.map((mark) => one(mark, read)));
  }

  Object.assign(findings, { MARKS, verifyMark: one, verifyAll: all });
})((globalThis.findings ??= {}));
