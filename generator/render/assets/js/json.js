// Strict JSON, read by lexeme: every value knows where it stands and how it is written.
(function (findings) {
  "use strict";

  const DEPTH = 200;
  const SPACE = /[ \t\r\n]*/y;
  const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+-])/y;
  const WORD = /(?:true|false|null)\b/y;

  /** A reader over one text; nodes are { kind, start, end, members or items }. */
  class Reader {
    constructor(text) {
      this.text = text;
      this.place = 0;
    }

    take(pattern) {
      pattern.lastIndex = this.place;
      const found = pattern.exec(this.text);
      if (found) this.place = pattern.lastIndex;
      return found && found[0];
    }

    skip() {
      this.take(SPACE);
      return this.text[this.place];
    }

    wrong(what) {
      throw new Error(`${what} at character ${this.place}`);
    }

    document() {
      const root = this.value(0);
      if (this.skip() !== undefined) this.wrong("something follows the value");
      return root;
    }

    value(depth) {
      if (depth > DEPTH) this.wrong("nested too deep");
      const first = this.skip();
      const start = this.place;
      if (first === "{") return this.container(start, depth, "object", "}");
      if (first === "[") return this.container(start, depth, "array", "]");
      for (const [kind, pattern] of [["string", STRING], ["number", NUMBER], ["word", WORD]]) {
        if (this.take(pattern)) return { kind, start, end: this.place };
      }
      return this.wrong("no value stands here");
    }

    container(start, depth, kind, closer) {
      const members = new Map();
      this.place += 1;
      if (this.skip() !== closer) {
        do {
          const key = kind === "object" ? this.key() : String(members.size);
          if (members.has(key)) this.wrong(`the key ${key} stands twice`);
          members.set(key, this.value(depth + 1));
        } while (this.skip() === "," && ++this.place);
        if (this.text[this.place] !== closer) this.wrong("a comma or a closing bracket is missing");
      }
      this.place += 1;
      return { kind, start, end: this.place, members };
    }

    key() {
      this.skip();
      const written = this.take(STRING) ?? this.wrong("a key is missing");
      if (this.skip() !== ":") this.wrong("a colon is missing");
      this.place += 1;
      return JSON.parse(written);
    }
  }

  /** One JSON file: its bytes, its digest, its values by pointer. */
  class Payload {
    constructor(bytes, sha256) {
      this.sha256 = sha256;
      this.text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      this.root = new Reader(this.text).document();
    }

    at(pointer) {
      let node = this.root;
      for (const token of pointer.split("/").slice(1)) {
        node = node?.members?.get(token.replaceAll("~1", "/").replaceAll("~0", "~"));
      }
      if (!node) throw new Error(`there is no field ${pointer}`);
      return node;
    }

    has(pointer) {
      try {
        return Boolean(this.at(pointer));
      } catch {
        return false;
      }
    }

    lexeme(node) {
      return this.text.slice(node.start, node.end);
    }

    /** The lexeme of a number, or the text of a string. */
    read(pointer) {
      const node = this.at(pointer);
      return node.kind === "string" ? JSON.parse(this.lexeme(node)) : this.lexeme(node);
    }

    line(node) {
      return this.text.slice(0, node.start).split("\n").length;
    }

    span(node) {
      const size = (text) => new TextEncoder().encode(text).length;
      const start = size(this.text.slice(0, node.start));
      return `${start}-${start + size(this.lexeme(node))}`;
    }
  }

  findings.Payload = Payload;
})((globalThis.findings ??= {}));
