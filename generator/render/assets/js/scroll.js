// A table that is wider than its page can be scrolled with the keyboard too, and has a name.
(function (findings) {
  "use strict";

  const WRAPS = ".md-typeset__scrollwrap, .comparison-wide";

  /** What the heads of a table say; its place among the tables of the page tells it from others. */
  function name(wrap, index) {
    const heads = [...wrap.querySelectorAll("thead th")].map((each) => each.textContent.trim()).filter(Boolean);
    return `Table ${index + 1}${heads.length ? `: ${heads.join(", ")}` : ""}`;
  }

  function fit(wrap, index) {
    const given = { role: "region", tabindex: "0", "aria-label": name(wrap, index) };
    const wide = wrap.scrollWidth > wrap.clientWidth;
    for (const [key, value] of Object.entries(given)) {
      if (wide) wrap.setAttribute(key, value);
      else wrap.removeAttribute(key);
    }
  }

  /** The theme has wrapped the tables by script; a table and its wrap grow and shrink with the window. */
  function lay() {
    const wraps = [...document.querySelectorAll(WRAPS)];
    const watch = new ResizeObserver(() => wraps.forEach(fit));
    for (const each of wraps) [each, each.firstElementChild].forEach((box) => watch.observe(box));
  }

  findings.scroll = lay;
})((globalThis.findings ??= {}));
