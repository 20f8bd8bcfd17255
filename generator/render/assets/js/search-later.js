"use strict";
/* The search index weighs more than a page, so it waits until somebody turns to the search. The theme asks for it
   by XMLHttpRequest as a page opens. A page that is opened from a file reads it as a script, at no cost. */
(() => {
  const { open, send } = XMLHttpRequest.prototype;
  const waiting = new Set();
  let wanted = new URLSearchParams(location.search).has("q");

  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    if (!wanted && String(address).endsWith("/search/search_index.json")) waiting.add(this);
    return open.call(this, method, address, ...rest);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    return waiting.has(this) ? undefined : send.apply(this, body);
  };

  function ask() {
    wanted = true;
    waiting.forEach((each) => send.call(each));
    waiting.clear();
  }
  document.addEventListener("focusin", (event) => event.target.closest(".md-search") && ask());
})();
