// The bytes of cited files: fetched from a server, or, where there is none or it does not answer, from the
// copies that are carried beside the payloads as classic scripts.
(function (findings) {
  "use strict";

  const base = document.currentScript ? new URL("..", document.currentScript.src) : new URL(".", location.href);
  const carried = new Map();

  /** Bytes that did not arrive, which says nothing of what they are. */
  class Unread extends Error {}

  /** Called by a carried copy. */
  function carry(path, text) {
    carried.set(path, new TextEncoder().encode(text));
  }

  function script(path) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.onload = resolve;
      element.onerror = () => reject(new Error(`${path} cannot be read`));
      element.src = new URL(path, base);
      document.head.append(element);
    }).finally(() => document.querySelector(`script[src$="${path}"]`)?.remove());
  }

  async function beside(path) {
    try {
      if (!carried.has(path)) await script(`${path}.js`);
    } catch {
      throw new Unread(`${path} could not be read`);
    }
    if (!carried.has(path)) throw new Error(`the copy of ${path} holds another file`);
    return carried.get(path);
  }

  async function served(path) {
    try {
      const answer = await fetch(new URL(path, base), { cache: "no-store" });
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    } catch {
      // The network is off, or broke while the file was read.
    }
    return beside(path);
  }

  const bytes = (path) => (location.protocol === "file:" ? beside(path) : served(path));

  /** A reader of payloads over some way to their bytes; each is read, hashed and parsed once. */
  function library(source = bytes) {
    const known = new Map();
    return (path) => {
      if (!known.has(path)) known.set(path, read(path, source));
      return known.get(path);
    };
  }

  async function read(path, source) {
    if (!/^payloads\/[^\\]+\.json$/.test(path) || path.split("/").includes("..")) {
      throw new Error(`${path} is no payload`);
    }
    const data = await source(path);
    return new findings.Payload(data, await findings.sha256(data));
  }

  Object.assign(findings, { Unread, base, carry, library, script });
})((globalThis.findings ??= {}));
