"use strict";
/* A page that is opened from a file may start no worker: a hidden frame runs the worker's script in its place.
   Its own first script stands in a file too, since the policy of the page lets no other one run. */
(() => {
  if (location.protocol !== "file:") return;
  const inside = document.currentScript.src.replace(/[^/]*$/, "frame-inside.js");

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const within = this.frame.contentWindow;
      within.document.open();
      within.document.write(`<script src="${inside}"></script><script src="${url}"></script>`);
      within.document.close();
      this.ready = new Promise((resolve) => within.addEventListener("load", resolve));
      addEventListener("message", (event) => this.heard(event, within));
    }

    heard(event, within) {
      if (event.source !== within) return;
      const told = new MessageEvent("message", { data: event.data });
      this.dispatchEvent(told);
      if (this.onmessage) this.onmessage(told);
    }

    postMessage(data) {
      const copy = structuredClone(data);
      this.ready.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: copy })),
      );
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();
