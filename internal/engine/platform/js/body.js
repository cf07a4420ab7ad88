// Headers, and Body: what Request and Response have in common.

const {
  Uint8Array: Bytes, TypeError: TypeErrorHere, Symbol: SymbolHere, SyntaxError: SyntaxErrorHere, parse, exec, push, sort, removeAt,
  toLowerCase, stringSlice, charCodeAt, getPrototypeOf, isArray, create, ownKeys, describeProperty, defineProperty, bytesSlice, viewbuffer,
} = internals.primordials;
const { expose, usv, bytes, encode, decode, concat, need } = internals;

const notToken = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/, badValue = /[\0\r\n]/, wide = /[^\0-\xff]/;
const plain = /^[!-\xff](?:[\t -\xff]*[!-\xff])?$/; // nothing to trim, nothing to refuse: nearly every value
internals.isToken = (s) => s !== '' && !exec(notToken, s);

function headerName(name) {
  name = `${name}`;
  if (!internals.isToken(name)) throw new TypeErrorHere(`${internals.inspectShort(name)} is not a valid header name`);
  return toLowerCase(name);
}

const isBlank = (c) => c === 9 || c === 10 || c === 13 || c === 32;

// trimmed is s without the white space of HTTP around it.
function trimmed(s) {
  let from = 0, to = s.length;
  while (from < to && isBlank(charCodeAt(s, from))) from++;
  while (to > from && isBlank(charCodeAt(s, to - 1))) to--;
  return stringSlice(s, from, to);
}

function headerValue(name, value) {
  value = `${value}`;
  if (exec(plain, value)) return value;
  value = trimmed(value);
  if (exec(badValue, value)) throw new TypeErrorHere(`the value of the header ${name} holds a line break or a NUL`);
  if (exec(wide, value)) throw new TypeErrorHere(`the value of the header ${name} holds a character above U+00FF; encode it first, for example with encodeURIComponent`);
  return value;
}

const received = {}; // tells Headers that a list came from the host

class Headers {
  #list; // [lower-case name, value] in the order they were set
  #locked = false;
  constructor(init = undefined, list = undefined) {
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
    for (let n = 0; n < pairs.length; n++) this.#append(pairs[n][0], pairs[n][1]);
  }
  append(name, value) {
    if (arguments.length < 2) throw new TypeErrorHere('append takes a name and a value');
    this.#append(name, value);
  }
  #append(name, value) {
    name = headerName(name);
    value = headerValue(name, value);
    this.#open();
    push(this.#list, [name, value]);
  }
  set(name, value) {
    if (arguments.length < 2) throw new TypeErrorHere('set takes a name and a value');
    name = headerName(name);
    value = headerValue(name, value);
    this.#open();
    const list = this.#list, at = this.#first(name);
    if (at < 0) { push(list, [name, value]); return; }
    list[at] = [name, value];
    this.#remove(name, at + 1);
  }
  delete(name) {
    if (arguments.length < 1) throw new TypeErrorHere('delete takes a name');
    name = headerName(name);
    this.#open();
    this.#remove(name, 0);
  }
  get(name) {
    if (arguments.length < 1) throw new TypeErrorHere('get takes a name');
    return Headers.#find(this, headerName(name));
  }
  has(name) {
    if (arguments.length < 1) throw new TypeErrorHere('has takes a name');
    return Headers.#find(this, headerName(name)) !== null;
  }
  getSetCookie() {
    const out = [];
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === 'set-cookie') push(out, this.#list[n][1]);
    return out;
  }
  #open() { if (this.#locked) throw new TypeErrorHere('these headers cannot be changed: copy them with new Headers(headers)'); }
  #first(name) {
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === name) return n;
    return -1;
  }
  // remove takes all headers of that name away, from the n-th of the list on.
  #remove(name, n) {
    while (n < this.#list.length) {
      if (this.#list[n][0] === name) removeAt(this.#list, n);
      else n++;
    }
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
      const name = headers.#list[n][0], value = headers.#list[n][1];
      if (name === 'set-cookie') push(out, [name, value]);
      else if (!seen[name]) { seen[name] = true; push(out, [name, Headers.#find(headers, name)]); }
    }
    return sort(out, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  }
  static {
    internals.lockHeaders = (headers) => { headers.#locked = true; return headers; };
    internals.receivedHeaders = (list) => new Headers(received, list);
    internals.headerOf = (headers, name) => Headers.#find(headers, name);
    // defaultHeader sets a header of a lower-case name unless it is there.
    internals.defaultHeader = (headers, name, value) => { if (Headers.#find(headers, name) === null) push(headers.#list, [name, value]); };
    internals.headerList = (headers) => headers.#list;
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
    if (internals.isLocked(v) || internals.isDisturbed(v)) throw new TypeErrorHere('the stream was read already or is locked to a reader');
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

// stateOf gives the state of an object of the class: {content, used, headers, list, …}. list is what the host sent, of which headers
// are made when somebody asks.
const headersOf = (s) => (s.headers ??= internals.receivedHeaders(s.list));
const typeOf = (s) => internals.headerOf(headersOf(s), 'content-type') ?? '';
const isLocked = (c) => c.stream !== undefined && internals.isLocked(c.stream);
const isUsed = (s) => s.used || s.content.stream !== undefined && internals.isDisturbed(s.content.stream);

function streamOf(s) {
  const c = s.content;
  if (c.stream === undefined && (c.data !== undefined || c.source)) {
    need('streams');
    c.stream = internals.streamOf(c, s.used);
  }
  return c.stream ?? null;
}

// take is all of the body: at once if it is there, else as a promise. Whoever hands it on copies it.
function take(s) {
  const c = s.content;
  if (isUsed(s)) throw new TypeErrorHere('the body was read already: it can be read once; call clone() before to read it twice');
  if (isLocked(c)) throw new TypeErrorHere('the body is locked to a reader');
  if (!isThere(c)) return new Bytes(0);
  s.used = true;
  return contentBytes(c);
}

// isThere says whether a content is one at all: null is not, empty text is.
const isThere = (c) => c.data !== undefined || !!c.source || c.stream !== undefined;
// isWhole says whether all of a content is there.
const isWhole = (c) => c.data !== undefined && c.stream === undefined;
// contentBytes is all of a content that nobody else has: at once if it is whole, else as a promise.
const contentBytes = (c) => (c.stream !== undefined ? readAll(internals.puller(c.stream)) : c.data ?? readAll(c.source.pull));

// bodyMembers gives Class what Request and Response have in common. There is no class that they extend: a body would find
// it, and a private field more costs as much as ten ordinary properties.
function bodyMembers(Class, stateOf) {
  const members = {
    get headers() { return headersOf(stateOf(this)); },
    get body() { return streamOf(stateOf(this)); },
    get bodyUsed() { return isUsed(stateOf(this)); },
    async text() { return decode(await take(stateOf(this))); },
    async json() { return parseBytes(await take(stateOf(this))); },
    async bytes() { return bytesSlice(await take(stateOf(this))); },
    async arrayBuffer() { return viewbuffer(bytesSlice(await take(stateOf(this)))); },
    async blob() {
      const s = stateOf(this), data = bytesSlice(await take(s));
      need('blob');
      return internals.makeBlob(data, typeOf(s));
    },
    async formData() {
      const s = stateOf(this), data = await take(s);
      need('forms');
      return internals.readForm(data, typeOf(s));
    },
  };
  const names = ownKeys(members);
  for (let n = 0; n < names.length; n++) defineProperty(Class.prototype, names[n], describeProperty(members, names[n]));
}

// copyContent is a second content with the same bytes: what clone() needs.
function copyContent(s) {
  const c = s.content;
  if (isUsed(s) || isLocked(c)) throw new TypeErrorHere('the body was read already, so it cannot be cloned: call clone() first');
  if (isWhole(c)) return content(c.data, c.type);
  if (!isThere(c)) return content(undefined, null);
  const stream = streamOf(s), branches = internals.tee(stream, true);
  s.content = { __proto__: null, data: undefined, source: undefined, stream: branches[0], type: c.type };
  return { __proto__: null, data: undefined, source: undefined, stream: branches[1], type: c.type };
}

function checkUnread(s) {
  if (isUsed(s) || isLocked(s.content)) throw new TypeErrorHere('the body of the request was used already');
}

// moveContent leaves s used.
function moveContent(s) {
  const c = s.content;
  checkUnread(s);
  s.content = content(c.data, c.type);
  s.used = isThere(c);
  return c;
}

internals.bodies = { __proto__: null, bodyMembers, headersOf, copyContent, moveContent, checkUnread, isThere, isWhole, contentBytes };
