// Above a page: a button that verifies it, and a switch that turns number links into tab stops.
(function (findings) {
  "use strict";

  const { element } = findings;
  const KEPT = "findings.numbers-as-tab-stops";
  const LINKS = ".num > a";
  const UNREAD = "What rests on these files is neither confirmed nor refuted here. Is there a connection?";

  function kept() {
    try {
      return localStorage.getItem(KEPT) === "true";
    } catch {
      return false;
    }
  }

  function keep(on) {
    try {
      localStorage.setItem(KEPT, String(on));
    } catch {
      // A browser that keeps nothing still turns the switch for this page.
    }
  }

  function stops(root, on) {
    for (const link of root.querySelectorAll(LINKS)) {
      if (on) link.removeAttribute("tabindex");
      else link.setAttribute("tabindex", "-1");
    }
  }

  function tabSwitch(root) {
    const button = element("button", { type: "button", role: "switch", "aria-checked": String(kept()), class: "bar-switch",
      onclick: () => {
        const on = button.getAttribute("aria-checked") !== "true";
        button.setAttribute("aria-checked", String(on));
        keep(on);
        stops(root, on);
      } }, "Numbers as tab stops");
    return button;
  }

  const any = (outcomes, what) => outcomes.some((each) => each[what]);
  const here = (outcomes) => outcomes.filter((each) => each.what !== "elsewhere");

  function outcome(outcomes) {
    if (any(outcomes, "fault")) return "differs";
    if (any(outcomes, "unread")) return "unread";
    return here(outcomes).length ? "same" : "nothing";
  }

  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  const LINES = {
    same: "the lines shown are those of the file",
    differs: "the lines shown differ from the file",
    unread: "the file of the lines shown could not be read",
  };

  /** What came out, in a sentence or two. */
  function told(outcomes) {
    const of = (what) => outcomes.filter((each) => each.what === what);
    const [numbers, claims, lines] = ["number", "claim", "lines"].map(of);
    const good = (list) => list.filter((each) => !each.fault && !each.unread).length;
    const parts = [];
    if (numbers.length) parts.push(`${good(numbers)} of ${numbers.length} re-computed here`);
    const judged = claims.filter((each) => !each.unread);
    if (judged.length) parts.push(`${good(judged)} of ${counted(judged.length, "comparison")} ${judged.length === 1 ? "holds" : "hold"}`);
    if (judged.length < claims.length) parts.push(`${counted(claims.length - judged.length, "comparison")} not checked`);
    if (lines.length) parts.push(LINES[outcome(lines)]);
    const elsewhere = of("elsewhere");
    const left = elsewhere.length ? ` ${counted(elsewhere.length, "count")} of sources can only be made again by the build.` : "";
    return `${parts.join("; ") || "Nothing on this page can be recomputed here"}.${left}`;
  }

  function failure({ mark, fault }) {
    const [path, pointer] = [mark.getAttribute("data-src") ?? "", mark.getAttribute("data-ptr") ?? ""];
    const name = mark.hasAttribute("data-verbatim") ? mark.dataset.verbatim : mark.textContent.slice(0, 80);
    const shown = mark.id ? element("a", { href: `#${mark.id}` }, name) : element("strong", {}, name);
    return element("li", {}, shown, `: ${fault}`, path ? ` (${path}#${pointer})` : "");
  }

  async function verify(root, result) {
    result.replaceChildren("Reading the files …");
    const outcomes = await findings.verifyAll(root);
    for (const each of here(outcomes)) each.mark.dataset.verified = outcome([each]);
    const failed = outcomes.filter((each) => each.fault);
    const unread = [...new Set(outcomes.map((each) => each.unread).filter(Boolean))];
    result.dataset.outcome = outcome(outcomes);
    result.replaceChildren(element("p", {}, told(outcomes)));
    if (failed.length) result.append(element("ul", {}, failed.map(failure)));
    if (unread.length) result.append(element("p", {}, UNREAD), element("ul", {}, unread.map((each) => element("li", {}, `${each}.`))));
  }

  function lay() {
    const root = document.querySelector("article");
    if (!root?.querySelector(findings.MARKS)) return;
    const result = element("div", { id: "verify-result", role: "status", "data-live": "" });
    const button = element("button", { type: "button", class: "bar-verify", onclick: () => verify(root, result) }, "Verify this page");
    const bar = element("div", { class: "bar", role: "region", "aria-label": "Checks" }, element("div", { class: "bar-row" }, button, tabSwitch(root)), result);
    const head = root.querySelector(":scope > header, :scope > h1") ?? root.querySelector("h1");
    if (head) head.after(bar);
    else root.prepend(bar);
    stops(root, kept());
  }

  Object.assign(findings, { bar: lay, outcome, told });
})((globalThis.findings ??= {}));
