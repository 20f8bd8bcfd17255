// What happens once a page is there.
(function (findings) {
  "use strict";

  /** What the theme's search writes is made by script too; its dialog has no name of its own. */
  function live() {
    document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
    document.querySelector("[data-md-component=search-result]")?.setAttribute("data-live", "");
  }

  function start() {
    live();
    findings.bar();
    findings.filter();
    findings.scroll();
    findings.drop();
    findings.cards();
    document.documentElement.dataset.findings = "ready";
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})((globalThis.findings ??= {}));
