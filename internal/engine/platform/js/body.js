// Headers, and Body: what Request and Response have in common.

const {
  Uint8Array: Bytes, TypeError: TypeErrorHere, Symbol: SymbolHere, SyntaxError: SyntaxErrorHere, Promise: PromiseHere, parse, exec, push, sort, splice, trim,
  toLowerCase, stringSlice, getPrototypeOf, isArray, create, join, then, entries, viewLength, bytesSlice, bufferSlice, viewbuffer, objectToString,
} = internals.primordials;
const { expose, usv, bytes, encode, decode, concat, need } = internals;

const notToken = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/, badValue = /[\0\r\n]/, wide = /[^\0-\xff]/, edges = /^[\t\r\n ]+|[\t\r\n ]+$/g;
const plain = /^[!-\xff](?:[\t -\xff]*[!-\xff])?$/; // nothing to trim, nothing to refuse: nearly every value
internals.isToken = (s) => s !== '' && !exec(notToken, s);

function headerName(name) {
  name = `${name}`;
  if (!internals.isToken(name)) throw new TypeErrorHere(`${internals.inspectShort(name)} is not a valid header name`);
  return toLowerCase(name);
}

function headerValue(name, value) {
  value = `${value}`;
  if (exec(plain, value)) return value;
  value = internals.replace(edges, value, '');
  if (exec(badValue, value)) throw new TypeErrorHere(`the value of the header ${name} holds a line break or a NUL`);
  if (exec(wide, value)) throw new TypeErrorHere(`the value of the header ${name} holds a character above U+00FF; encode it first, for example with encodeURIComponent`);
  return value;
}

const received = {}; // tells Headers that a list came from the host

class Headers {
  #list; // [lower-case name, value] in the order they were set
  #locked = false;
  constructor(init, list) {
    if (init === received) {
      for (let n = 0; n < list.length; n++) list[n][0] = toLowerCase(list[n][0]);
      this.#list = list;
      this.#locked = true;
      return;
    }
    this.#list = [];
    if (init === undefined || init === null) return;
    if (typeof init !== 'object' && typeof init !== 'function') throw new TypeErrorHere('Headers takes an object, a list of pairs or Headers');
    if (#list in init) { // checked already
      for (let n = 0; n < init.#list.length; n++) push(this.#list, [init.#list[n][0], init.#list[n][1]]);
      return;
    }
    const pairs = internals.pairs(init, 'Headers');
    for (let n = 0; n < pairs.length; n++) this.append(pairs[n][0], pairs[n][1]);
  }
  append(name, value) {
    name = headerName(name);
    value = headerValue(name, value);
    this.#open();
    push(this.#list, [name, value]);
  }
  set(name, value) {
    name = headerName(name);
    value = headerValue(name, value);
    this.#open();
    const at = this.#remove(name);
    splice(this.#list, at < 0 ? this.#list.length : at, 0, [name, value]);
  }
  delete(name) {
    name = headerName(name);
    this.#open();
    this.#remove(name);
  }
  get(name) { return Headers.#find(this, headerName(name)); }
  has(name) { return Headers.#find(this, headerName(name)) !== null; }
  getSetCookie() {
    const out = [];
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === 'set-cookie') push(out, this.#list[n][1]);
    return out;
  }
  #open() { if (this.#locked) throw new TypeErrorHere('these headers cannot be changed: copy them with new Headers(headers)'); }
  // remove takes all headers of that name away and says where the first one was.
  #remove(name) {
    let first = -1;
    for (let n = 0; n < this.#list.length;) {
      if (this.#list[n][0] !== name) { n++; continue; }
      if (first < 0) first = n;
      splice(this.#list, n, 1);
    }
    return first;
  }
  static #find(headers, name) {
    let out = null;
    const list = headers.#list;
    for (let n = 0; n < list.length; n++) if (list[n][0] === name) out = out === null ? list[n][1] : `${out}, ${list[n][1]}`;
    return out;
  }
  // sorted is what iteration gives: names in order, values joined, each cookie on its own.
  static #sorted(headers) {
    const out = [], seen = create(null);
    for (let n = 0; n < headers.#list.length; n++) {
      const [name, value] = headers.#list[n];
      if (name === 'set-cookie') push(out, [name, value]);
      else if (!seen[name]) { seen[name] = true; push(out, [name, Headers.#find(headers, name)]); }
    }
    return sort(out, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  }
  static {
    internals.lockHeaders = (headers) => { headers.#locked = true; return headers; };
    internals.headerOf = (headers, name) => Headers.#find(headers, name);
    // defaultHeader sets a header of a lower-case name unless it is there.
    internals.defaultHeader = (headers, name, value) => { if (Headers.#find(headers, name) === null) push(headers.#list, [name, value]); };
    internals.headerList = (headers) => headers.#list;
    internals.isHeaders = (v) => typeof v === 'object' && v !== null && #list in v;
    internals.pairMethods(Headers, (h) => Headers.#sorted(h));
  }
}
expose(Headers, 'Return Object.fromEntries(headers).');

// A content is {data, source, stream, type}: bytes, or something to pull them from, or a ReadableStream; and the media type.
const content = (data, type) => ({ __proto__: null, data, type, source: undefined, stream: undefined });
internals.content = content;

function plainObject(v) {
  if (isArray(v)) return true;
  const proto = getPrototypeOf(v);
  return proto === null || `${v}` === '[object Object]';
}

// contentOf reads a body as fetch, Request and Response take it.
internals.contentOf = (v) => {
  if (v === null || v === undefined) return content(undefined, null);
  if (typeof v === 'string') return content(encode(v), 'text/plain;charset=UTF-8');
  if (typeof v !== 'object') return content(encode(usv(v)), 'text/plain;charset=UTF-8');
  const b = bytes(v);
  if (b !== undefined) return content(bytesSlice(b), null);
  if (internals.isSearchParams(v)) return content(encode(internals.queryOf(v)), 'application/x-www-form-urlencoded;charset=UTF-8');
  return internals.blobContent?.(v) ?? internals.formContent?.(v) ?? streamContent(v);
};

function streamContent(v) {
  if (internals.isStream?.(v)) {
    if (v.locked || internals.isDisturbed(v)) throw new TypeErrorHere('the stream was read already or is locked to a reader');
    return { __proto__: null, data: undefined, source: undefined, stream: v, type: null };
  }
  if (typeof v[SymbolHere.asyncIterator] === 'function') {
    need('streams');
    return { __proto__: null, data: undefined, source: undefined, stream: internals.streamFrom(v), type: null };
  }
  if (plainObject(v)) {
    throw new TypeErrorHere('a plain object or array cannot be a body: send JSON.stringify(value) with the header content-type: application/json, or new URLSearchParams(value)');
  }
  return content(encode(usv(v)), 'text/plain;charset=UTF-8');
}

async function readAll(pull) {
  const chunks = [];
  for (;;) {
    const chunk = await pull();
    if (chunk === undefined) return chunks.length === 0 ? new Bytes(0) : concat(chunks);
    push(chunks, chunk);
  }
}

function parseJSON(text) {
  try {
    return parse(text);
  } catch (e) {
    const start = text.length > 100 ? stringSlice(text, 0, 100) + '…' : text;
    throw new SyntaxErrorHere(text === '' ? 'the body is empty, which is not JSON' : `the body is not JSON (${e.message}); it starts with: ${start}`);
  }
}

// parseBytes is parseJSON of text in a buffer or a view, the fast way where the host can.
function parseBytes(data) {
  const v = host.parseJSON(data);
  return v !== undefined ? v : parseJSON(decode(bytes(data)));
}

internals.parseBytes = parseBytes;

class Body {
  // {content, used, headers, list}: list is what the host sent, of which headers are made when somebody asks. One
  // private field, because each costs as much as ten ordinary properties.
  #state;
  constructor(content, headers, list) { this.#state = { __proto__: null, content, used: false, headers, list }; }
  get headers() { return Body.#headersOf(this); }
  get body() { return this.#stream(); }
  get bodyUsed() { return this.#isUsed(); }
  async text() { return decode(await this.#bytes()); }
  async json() { return parseBytes(await this.#bytes()); }
  async bytes() { return bytesSlice(await this.#bytes()); }
  async arrayBuffer() { return viewbuffer(bytesSlice(await this.#bytes())); }
  async blob() {
    const data = await this.#bytes();
    need('blob');
    return internals.makeBlob(data, this.#type());
  }
  async formData() {
    const data = await this.#bytes();
    need('forms');
    return internals.readForm(data, this.#type());
  }
  #type() { return internals.headerOf(Body.#headersOf(this), 'content-type') ?? ''; }
  static #headersOf(b) { return (b.#state.headers ??= new Headers(received, b.#state.list)); }
  #isUsed() {
    const s = this.#state, stream = s.content.stream;
    return s.used || stream !== undefined && internals.isDisturbed(stream);
  }
  #stream() {
    const s = this.#state, c = s.content;
    if (c.stream === undefined && (c.data !== undefined || c.source)) {
      need('streams');
      c.stream = internals.streamOf(c, s.used);
    }
    return c.stream ?? null;
  }
  // bytes is all of the body: at once if it is there, else as a promise.
  #bytes() {
    const s = this.#state, c = s.content;
    if (this.#isUsed()) throw new TypeErrorHere('the body was read already: it can be read once; call clone() before to read it twice');
    if (c.stream !== undefined && c.stream.locked) throw new TypeErrorHere('the body is locked to a reader');
    if (c.data === undefined && !c.source && c.stream === undefined) return new Bytes(0);
    s.used = true;
    if (c.stream !== undefined) return readAll(internals.puller(c.stream));
    return c.data ?? readAll(c.source.pull);
  }
  static {
    internals.takeBody = (b) => b.#bytes();
    internals.hasBody = (b) => internals.isThere(b.#state.content);
    internals.isBody = (v) => typeof v === 'object' && v !== null && #state in v;
    // copyContent is a second content with the same bytes: what clone() needs.
    internals.copyContent = (b) => {
      const s = b.#state, c = s.content;
      if (b.#isUsed() || c.stream?.locked) throw new TypeErrorHere('the body was read already, so it cannot be cloned: call clone() first');
      if (c.data !== undefined && !c.stream) return content(c.data, c.type);
      if (!internals.isThere(c)) return content(undefined, null);
      const [one, two] = b.#stream().tee();
      s.content = { __proto__: null, data: undefined, source: undefined, stream: one, type: c.type };
      return { __proto__: null, data: undefined, source: undefined, stream: two, type: c.type };
    };
    internals.headersOf = Body.#headersOf;
    internals.withContent = (b, c) => { b.#state.content = c; return b; };
    // moveContent leaves b used.
    internals.moveContent = (b) => {
      const s = b.#state, c = s.content;
      if (b.#isUsed() || c.stream?.locked) throw new TypeErrorHere('the body of the request was used already');
      s.content = content(c.data, c.type);
      s.used = internals.isThere(c);
      return c;
    };
  }
}
internals.Body = Body;
// isThere says whether a content is one at all: null is not, empty text is.
internals.isThere = (c) => c.data !== undefined || !!c.source || c.stream !== undefined;
// contentBytes is all of a content that nobody else has: at once if it is there, else as a promise.
internals.contentBytes = (c) => (c.stream !== undefined ? readAll(internals.puller(c.stream)) : c.data ?? readAll(c.source.pull));
