// Blob and File.

const { Uint8Array: Bytes, TypeError: TypeErrorHere, Symbol: SymbolHere, push, exec, toLowerCase, viewLength, viewbuffer, bytesSlice, dateNow } = internals.primordials;
const { expose, usv, bytes, encode, decode, concat, need } = internals;

const strange = /[^\x20-\x7e]/;

function partsOf(parts) {
  if (parts === undefined) return new Bytes(0);
  if (typeof parts !== 'object' || parts === null || typeof parts[SymbolHere.iterator] !== 'function') throw new TypeErrorHere('a Blob is made of a list of parts: new Blob([text])');
  const chunks = [];
  for (const p of parts) push(chunks, internals.blobBytes(p) ?? bytes(p) ?? encode(usv(p)));
  return chunks.length === 1 ? bytesSlice(chunks[0]) : concat(chunks);
}

const index = (v, size, fallback) => {
  if (v === undefined) return fallback;
  v = Math.trunc(+v) || 0;
  return v < 0 ? Math.max(size + v, 0) : Math.min(v, size);
};

class Blob {
  #data;
  #type;
  constructor(parts, options) {
    const type = options?.type === undefined ? '' : `${options.type}`;
    this.#data = partsOf(parts);
    this.#type = exec(strange, type) ? '' : toLowerCase(type);
  }
  get size() { return viewLength(this.#data); }
  get type() { return this.#type; }
  slice(start, end, type) {
    const size = this.size, from = index(start, size, 0);
    return internals.makeBlob(bytesSlice(this.#data, from, Math.max(from, index(end, size, size))), type === undefined ? '' : `${type}`);
  }
  async text() { return decode(this.#data); }
  async bytes() { return bytesSlice(this.#data); }
  async arrayBuffer() { return viewbuffer(bytesSlice(this.#data)); }
  stream() {
    need('streams');
    return internals.streamOf({ __proto__: null, data: this.#data }, false);
  }
  static {
    internals.makeBlob = (data, type) => { const b = new Blob(undefined, { type }); b.#data = data; return b; };
    internals.blobBytes = (v) => (typeof v === 'object' && v !== null && #data in v ? v.#data : undefined);
    internals.blobContent = (v) => (internals.blobBytes(v) === undefined ? undefined : { __proto__: null, data: v.#data, type: v.#type || null, source: undefined, stream: undefined });
  }
}
expose(Blob, 'Return await blob.text(), or its size and type.');

class File extends Blob {
  #name;
  #modified;
  constructor(parts, name, options) {
    if (arguments.length < 2) throw new TypeErrorHere('a File needs its parts and a name: new File([text], "a.txt")');
    super(parts, options);
    this.#name = usv(name);
    this.#modified = options?.lastModified === undefined ? dateNow() : Math.trunc(+options.lastModified) || 0;
  }
  get name() { return this.#name; }
  get lastModified() { return this.#modified; }
  get webkitRelativePath() { return ''; }
  static { internals.isFile = (v) => typeof v === 'object' && v !== null && #name in v; }
}
expose(File);
// fileOf makes a File of a Blob; a File keeps its name unless it is given one.
internals.fileOf = (blob, name) => {
  if (internals.isFile(blob) && name === undefined) return blob;
  return new File([blob], name === undefined ? 'blob' : name, { type: blob.type, lastModified: internals.isFile(blob) ? blob.lastModified : undefined });
};
push(internals.cloners, (v) => {
  if (internals.isFile(v)) return new File([v], v.name, { type: v.type, lastModified: v.lastModified });
  return internals.blobBytes(v) ? internals.makeBlob(internals.blobBytes(v), v.type) : undefined;
});
