"use strict";
/* What a worker's script expects around it, inside the frame that runs it. */
window.postMessage = (data) => parent.postMessage(data, "*");
window.importScripts = (...urls) =>
  urls.reduce(
    (before, url) =>
      before.then(
        () =>
          new Promise((resolve) => {
            const script = document.createElement("script");
            script.src = url;
            script.onload = resolve;
            document.body.append(script);
          }),
      ),
    Promise.resolve(),
  );
