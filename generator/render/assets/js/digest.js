// SHA-256 of bytes: by WebCrypto where a page has it, else by the same standard, FIPS 180-4, written out.
(function (findings) {
  "use strict";

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

  async function sha256(bytes) {
    const subtle = globalThis.crypto?.subtle;
    return subtle ? hex(new Uint8Array(await subtle.digest("SHA-256", bytes))) : written(bytes);
  }

  function primes(count) {
    const found = [];
    for (let n = 2; found.length < count; n += 1) if (found.every((p) => n % p)) found.push(n);
    return found;
  }

  /** The first 32 bits of the fraction of a root of a small prime, exactly. */
  function fraction(prime, root) {
    const wanted = BigInt(prime) << BigInt(32 * root);
    let low = 0n;
    let high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (middle ** BigInt(root) <= wanted) low = middle;
      else high = middle;
    }
    return Number(low & 0xffffffffn);
  }

  const turn = (x, n) => (x >>> n) | (x << (32 - n));

  function written(bytes) {
    const constants = primes(64).map((prime) => fraction(prime, 3));
    const state = primes(8).map((prime) => fraction(prime, 2));
    const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
    padded.set(bytes);
    padded[bytes.length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
    view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
    for (let at = 0; at < padded.length; at += 64) block(view, at, state, constants);
    const out = new DataView(new ArrayBuffer(32));
    state.forEach((word, index) => out.setUint32(4 * index, word >>> 0));
    return hex(new Uint8Array(out.buffer));
  }

  function block(view, at, state, constants) {
    const w = [];
    for (let t = 0; t < 64; t += 1) w.push(t < 16 ? view.getUint32(at + 4 * t) | 0 : schedule(w, t));
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t += 1) {
      const one = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const first = (h + one + ((e & f) ^ (~e & g)) + constants[t] + w[t]) | 0;
      const zero = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const second = (zero + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = (state[index] + word) | 0));
  }

  function schedule(w, t) {
    const near = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ (w[t - 15] >>> 3);
    const far = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ (w[t - 2] >>> 10);
    return (w[t - 16] + near + w[t - 7] + far) | 0;
  }

  Object.assign(findings, { sha256, sha256Written: written });
})((globalThis.findings ??= {}));
