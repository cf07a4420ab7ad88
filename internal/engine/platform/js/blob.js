// Blob and File.

const { Uint8Array: Bytes, TypeError: TypeErrorHere, Symbol: SymbolHere, push, exec, toLowerCase, viewLength, viewbuffer, bytesSlice, dateNow, trunc } = internals.primordials;
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
  v = trunc(+v) || 0;
  if (v < 0) v += size;
  return v < 0 ? 0 : v > size ? size : v;
};

let setData;

class Blob {
  #data;
  #type;
  constructor(parts = undefined, options = undefined) {
    const type = options?.type === undefined ? '' : `${options.type}`;
    this.#data = partsOf(parts);
    this.#type = exec(strange, type) ? '' : toLowerCase(type);
  }
  get size() { return viewLength(this.#data); }
  get type() { return this.#type; }
  slice(start = undefined, end = undefined, type = undefined) {
    const size = viewLength(this.#data), from = index(start, size, 0), to = index(end, size, size);
    return internals.makeBlob(bytesSlice(this.#data, from, to < from ? from : to), type === undefined ? '' : `${type}`);
  }
  async text() { return decode(this.#data); }
  async bytes() { return bytesSlice(this.#data); }
  async arrayBuffer() { return viewbuffer(bytesSlice(this.#data)); }
  stream() {
    need('streams');
    return internals.streamOf({ __proto__: null, data: this.#data }, false);
  }
  static {
    setData = (b, data) => { b.#data = data; return b; };
    internals.makeBlob = (data, type) => setData(new Blob(undefined, { __proto__: null, type }), data);
    internals.blobBytes = (v) => (typeof v === 'object' && v !== null && #data in v ? v.#data : undefined);
    internals.blobType = (b) => b.#type;
    internals.blobContent = (v) => (internals.blobBytes(v) === undefined ? undefined : { __proto__: null, data: v.#data, type: v.#type || null, source: undefined, stream: undefined });
  }
}
expose(Blob, 'Return await blob.text(), or its size and type.');

class File extends Blob {
  #name;
  #modified;
  constructor(parts, name, options = undefined) {
    if (arguments.length < 2) throw new TypeErrorHere('a File needs its parts and a name: new File([text], "a.txt")');
    super(parts, options);
    this.#name = usv(name);
    this.#modified = options?.lastModified === undefined ? dateNow() : trunc(+options.lastModified) || 0;
  }
  get name() { return this.#name; }
  get lastModified() { return this.#modified; }
  get webkitRelativePath() { return ''; }
  static {
    internals.isFile = (v) => typeof v === 'object' && v !== null && #name in v;
    internals.fileName = (f) => f.#name;
    // fileOf makes a File of a Blob; a File keeps its name unless it is given one.
    internals.fileOf = (blob, name) => {
      if (internals.isFile(blob) && name === undefined) return blob;
      return internals.makeFile(internals.blobBytes(blob), name === undefined ? 'blob' : name, internals.blobType(blob), internals.isFile(blob) ? blob.#modified : undefined);
    };
    internals.makeFile = (data, name, type, lastModified) => setData(new File(undefined, name, { __proto__: null, type, lastModified }), data);
    internals.modified = (f) => f.#modified;
  }
}
expose(File);
push(internals.cloners, (v) => {
  const data = internals.blobBytes(v);
  if (data === undefined) return undefined;
  return internals.isFile(v) ? internals.makeFile(data, internals.fileName(v), internals.blobType(v), internals.modified(v)) : internals.makeBlob(data, internals.blobType(v));
});
