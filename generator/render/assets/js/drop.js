// Verify a file: a payload, or a whole downloaded site as a ZIP archive or a folder. Nothing leaves the page.
(function (findings) {
  "use strict";

  const { element } = findings;
  const PAYLOAD = /(?:^|\/)(payloads\/[^/]+\/[^/]+\.json)$/;
  const known = () => findings.knownFiles ?? { releases: {}, present: {} };

  /** Called by the list of digests that lies beside the pages. */
  findings.know = (files) => (findings.knownFiles = files);

  const named = (digest) => {
    const { releases, present } = known();
    const tags = Object.keys(releases).filter((tag) => Object.values(releases[tag]).includes(digest));
    const path = [present, ...Object.values(releases)].flatMap(Object.entries).find(([, each]) => each === digest)?.[0];
    return { tags, path, here: Object.values(present).includes(digest) };
  };

  /** What a single file is, by its digest alone. */
  function identified(digest) {
    const { tags, path, here } = named(digest);
    if (!path) return { fault: true, text: "No release of this record, nor this site, holds a file with this digest." };
    const where = [...(here ? ["this site"] : []), ...tags.map((tag) => `release ${tag}`)];
    return { fault: false, text: `It is ${path} of ${where.join(" and of ")}.` };
  }

  /** Which release the payloads of a site are; digests by path. */
  function release(digests) {
    const { releases, present } = known();
    const same = (files) => Object.keys(files).length === digests.size
      && Object.entries(files).every(([path, digest]) => digests.get(path) === digest);
    const tag = Object.keys(releases).find((each) => same(releases[each]));
    if (tag) return { fault: false, text: `Its payloads are those of release ${tag}.` };
    if (same(present)) return { fault: false, text: "Its payloads are those of this site, which is not released." };
    const other = [...digests].filter(([path, digest]) => present[path] !== digest).map(([path]) => path);
    const gone = Object.keys(present).filter((path) => !digests.has(path));
    return { fault: true, text: `It is no release of this record. Other than here: ${[...other, ...gone].join(", ") || "nothing"}.` };
  }

  async function site(files, tell) {
    const bytes = new Map();
    const digests = new Map();
    for (const file of files) {
      const path = PAYLOAD.exec(file.path)?.[1];
      if (!path || path === "payloads/experiments.json") continue;
      bytes.set(path, await file.read());
      digests.set(path, await findings.sha256(bytes.get(path)));
    }
    const found = release(digests);
    tell(found.text, found.fault);
    const read = findings.library(async (path) => {
      if (!bytes.has(path)) throw new Error(`${path} is not among the files`);
      return bytes.get(path);
    });
    await pages(files.filter((file) => file.path.endsWith(".html")), read, tell);
  }

  async function pages(files, read, tell) {
    const outcomes = [];
    for (const file of files) {
      const text = new TextDecoder().decode(await file.read());
      const found = await findings.verifyAll(new DOMParser().parseFromString(text, "text/html"), read);
      for (const { mark, fault } of found.filter((each) => each.fault)) {
        tell(`${file.path}: ${mark.textContent.slice(0, 60)}: ${fault}.`, true);
      }
      outcomes.push(...found);
    }
    const pagesCount = `On ${files.length} ${files.length === 1 ? "page" : "pages"}: `;
    if (files.length) tell(pagesCount + findings.told(outcomes), outcomes.some((each) => each.fault));
  }

  async function judge(files, result) {
    result.replaceChildren();
    result.dataset.outcome = "same";
    const tell = (text, fault) => {
      if (fault) result.dataset.outcome = "differs";
      result.append(element("p", { "data-fault": String(Boolean(fault)) }, text));
    };
    try {
      if (files.length === 1 && files[0].path.endsWith(".zip")) return await site(findings.unzip(await files[0].read()), tell);
      if (files.length !== 1) return await site(files, tell);
      const digest = await findings.sha256(await files[0].read());
      const { text, fault } = identified(digest);
      tell(`${files[0].path} has the SHA-256 digest ${digest}.`, false);
      return tell(text, fault);
    } catch (error) {
      return tell(`It cannot be read: ${error.message}.`, true);
    }
  }

  const plain = (file, path = file.webkitRelativePath || file.name) =>
    ({ path, read: async () => new Uint8Array(await file.arrayBuffer()) });

  /** Every file below what was dropped. */
  async function walked(entry, prefix = "") {
    if (entry.isFile) return [plain(await new Promise((take, fail) => entry.file(take, fail)), prefix + entry.name)];
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((take, fail) => reader.readEntries(take, fail));
      if (!some.length) return found;
      for (const each of some) found.push(...(await walked(each, `${prefix}${entry.name}/`)));
    }
  }

  async function dropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) return [...transfer.files].map((file) => plain(file));
    return (await Promise.all(entries.map((entry) => walked(entry)))).flat();
  }

  function chooser(label, folder, result) {
    const input = element("input", { type: "file", webkitdirectory: folder,
      onchange: () => judge([...input.files].map((file) => plain(file)), result) });
    return element("label", {}, element("span", {}, label), input);
  }

  async function lay() {
    const place = document.getElementById("dropped-file");
    if (!place) return;
    const result = element("div", { id: "file-result", role: "status", "data-live": "" });
    const zone = element("div", { class: "drop", ondragover: (event) => event.preventDefault(),
      ondrop: async (event) => {
        event.preventDefault();
        await judge(await dropped(event.dataTransfer), result);
      } },
    element("p", {}, "Drop a payload, a ZIP archive of the site, or its folder here."),
    chooser("Choose a file", false, result), chooser("Choose a folder", true, result));
    place.replaceChildren(zone, result);
    await findings.script("assets/known.js").catch(() => undefined);
  }

  findings.drop = lay;
})((globalThis.findings ??= {}));
