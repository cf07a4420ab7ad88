// FormData, and its two forms on the wire.

internals.need('blob');
const { Uint8Array: Bytes, TypeError: TypeErrorHere, push, exec, toLowerCase, indexOf, stringSlice } = internals.primordials;
const { expose, usv, encode, decode, concat, blobBytes, blobType, fileName, fileOf, makeFile } = internals;
const boundaryOf = host.native('form.boundary'), head = host.native('form.head'), split = host.native('form.split'), queryPairs = host.native('query.parse');

// withLineBreaks is text with its line breaks as forms have them.
function withLineBreaks(text) {
  const one = /\r\n?|\n/g;
  let out = '', at = 0;
  for (let m = exec(one, text); m; m = exec(one, text)) {
    out += stringSlice(text, at, m.index) + '\r\n';
    at = m.index + m[0].length;
  }
  return out + stringSlice(text, at);
}

class FormData {
  #list = []; // [name, text or File]
  constructor(form = undefined) {
    if (form !== undefined) throw new TypeErrorHere('there are no form elements here: make an empty FormData and append to it');
  }
  append(name, value, filename = undefined) {
    if (arguments.length < 2) throw new TypeErrorHere('append takes a name and a value');
    push(this.#list, FormData.#entry(name, value, filename));
  }
  set(name, value, filename = undefined) {
    if (arguments.length < 2) throw new TypeErrorHere('set takes a name and a value');
    const entry = FormData.#entry(name, value, filename), list = [];
    let done = false;
    for (let n = 0; n < this.#list.length; n++) {
      if (this.#list[n][0] !== entry[0]) push(list, this.#list[n]);
      else if (!done) { push(list, entry); done = true; }
    }
    if (!done) push(list, entry);
    this.#list = list;
  }
  delete(name) {
    const list = [];
    name = usv(name);
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] !== name) push(list, this.#list[n]);
    this.#list = list;
  }
  get(name) {
    name = usv(name);
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === name) return this.#list[n][1];
    return null;
  }
  getAll(name) {
    const out = [];
    name = usv(name);
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === name) push(out, this.#list[n][1]);
    return out;
  }
  has(name) {
    name = usv(name);
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === name) return true;
    return false;
  }
  static #entry(name, value, filename) {
    if (blobBytes(value) === undefined) {
      if (filename !== undefined) throw new TypeErrorHere('only a Blob or a File has a file name');
      return [usv(name), usv(value)];
    }
    return [usv(name), fileOf(value, filename === undefined ? undefined : usv(filename))];
  }
  static {
    internals.formOf = (list) => { const form = new FormData(); form.#list = list; return form; };
    internals.pairMethods(FormData, (form) => form.#list);
    internals.formContent = (v) => {
      if (!(#list in v)) return undefined;
      const boundary = boundaryOf(), chunks = [];
      for (let n = 0; n < v.#list.length; n++) {
        const name = v.#list[n][0], value = v.#list[n][1], data = blobBytes(value);
        const top = data === undefined ? head(boundary, name) : head(boundary, name, fileName(value), blobType(value) || 'application/octet-stream');
        push(chunks, encode(top), data ?? encode(withLineBreaks(value)), encode('\r\n'));
      }
      push(chunks, encode(`--${boundary}--\r\n`));
      return { __proto__: null, data: concat(chunks), type: `multipart/form-data; boundary=${boundary}`, source: undefined, stream: undefined };
    };
  }
}
expose(FormData, 'Return Object.fromEntries(form) when it holds text only.');

// readForm is the body of a request or a response as a form.
internals.readForm = (data, type) => {
  const list = [], mime = toLowerCase(type);
  if (indexOf(mime, 'application/x-www-form-urlencoded') === 0) {
    const flat = queryPairs(decode(data));
    for (let n = 0; n < flat.length; n += 2) push(list, [flat[n], flat[n + 1]]);
    return internals.formOf(list);
  }
  if (indexOf(mime, 'multipart/form-data') !== 0) throw new TypeErrorHere(`a body of type ${internals.inspectShort(type)} is not a form`);
  const flat = split(type, data); // name, file name, type, bytes
  for (let n = 0; n < flat.length; n += 4) {
    const bytes = new Bytes(flat[n + 3]);
    push(list, [flat[n], flat[n + 1] === undefined ? decode(bytes) : makeFile(bytes, flat[n + 1], flat[n + 2])]);
  }
  return internals.formOf(list);
};
