// Files out of a ZIP archive, by its central directory; stored and deflated entries.
(function (findings) {
  "use strict";

  const END = 0x06054b50;
  const ENTRY = 0x02014b50;

  async function inflated(data) {
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function directory(view) {
    for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 65557); at -= 1) {
      if (view.getUint32(at, true) === END) return { count: view.getUint16(at + 10, true), at: view.getUint32(at + 16, true) };
    }
    throw new Error("this is no ZIP archive");
  }

  /** Each file as { path, read }. */
  function unzip(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const files = [];
    let { count, at } = directory(view);
    for (; count > 0; count -= 1) {
      if (view.getUint32(at, true) !== ENTRY) throw new Error("the archive's directory is broken");
      const [method, size, name, extra, note, start] = [view.getUint16(at + 10, true), view.getUint32(at + 20, true),
        view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true), view.getUint32(at + 42, true)];
      const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name));
      const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
      const packed = bytes.subarray(data, data + size);
      if (!path.endsWith("/")) files.push({ path, read: async () => (method === 8 ? inflated(packed) : packed) });
      at += 46 + name + extra + note;
    }
    return files;
  }

  findings.unzip = unzip;
})((globalThis.findings ??= {}));
