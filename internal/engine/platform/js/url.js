// URL and URLSearchParams. The parser is a native that keeps nothing: a URL is the list of its parts.

const { TypeError: TypeErrorHere, Symbol: SymbolHere, stringify, push, sort, entries, apply, bareList, stringSlice } = internals.primordials;
const { expose, put, usv } = internals;
const parse = host.native('url.parse'), change = host.native('url.set');
internals.parseURL = parse;
const parseQuery = host.native('query.parse'), writeQuery = host.native('query.write');

// The parts, in the order the native gives them.
const HREF = 0, names = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin'];

const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][SymbolHere.iterator]()));

// iterator makes the iterators of the web's pair lists: live, over list(), giving pick(pair).
internals.pairIterator = (tag, list, pick) => {
  let n = 0;
  return {
    __proto__: iteratorPrototype,
    next() {
      const all = list();
      return n < all.length ? { value: pick(all[n++]), done: false } : { value: undefined, done: true };
    },
    get [SymbolHere.toStringTag]() { return `${tag} Iterator`; },
  };
};
// pairMethods gives a class entries, keys, values, forEach and iteration over list(object).
internals.pairMethods = (Class, list) => {
  const make = (name, pick) => put(Class.prototype, name, { [name]() { list(this); return internals.pairIterator(Class.name, () => list(this), pick); } }[name]);
  make('entries', (p) => [p[0], p[1]]);
  make('keys', (p) => p[0]);
  make('values', (p) => p[1]);
  put(Class.prototype, SymbolHere.iterator, Class.prototype.entries);
  put(Class.prototype, 'forEach', function forEach(callback, self = undefined) {
    if (typeof callback !== 'function') throw new TypeErrorHere('forEach takes a function');
    for (let n = 0, all = list(this); n < all.length; n++, all = list(this)) apply(callback, self, [all[n][1], all[n][0], this]);
  });
};

// pairs reads what Headers, URLSearchParams and FormData take as init: pairs, or an object of strings.
internals.pairs = (init, what) => {
  const out = [];
  if (typeof init[SymbolHere.iterator] === 'function') {
    for (const pair of init) {
      const p = typeof pair === 'object' && pair !== null ? [...pair] : [];
      if (p.length !== 2) throw new TypeErrorHere(`${what} takes pairs of a name and a value`);
      push(out, [usv(p[0]), usv(p[1])]);
    }
    return out;
  }
  const list = entries(init);
  for (let n = 0; n < list.length; n++) push(out, [usv(list[n][0]), usv(list[n][1])]);
  return out;
};

const fromQuery = (text) => {
  const flat = parseQuery(text), out = [];
  for (let n = 0; n < flat.length; n += 2) push(out, [flat[n], flat[n + 1]]);
  return out;
};

let attach, refresh;

class URLSearchParams {
  #list = [];
  #changed = undefined; // tells the URL that this belongs to
  constructor(init = '') {
    if (typeof init === 'object' && init !== null || typeof init === 'function') {
      if (!(#list in init)) this.#list = internals.pairs(init, 'URLSearchParams');
      else for (let n = 0; n < init.#list.length; n++) push(this.#list, [init.#list[n][0], init.#list[n][1]]);
      return;
    }
    const text = usv(init);
    this.#list = fromQuery(text[0] === '?' ? stringSlice(text, 1) : text);
  }
  get size() { return this.#list.length; }
  append(name, value) {
    if (arguments.length < 2) throw new TypeErrorHere('append takes a name and a value');
    push(this.#list, [usv(name), usv(value)]);
    this.#update();
  }
  delete(name, value = undefined) {
    name = usv(name);
    if (value !== undefined) value = usv(value);
    this.#keep((p) => p[0] !== name || value !== undefined && p[1] !== value);
    this.#update();
  }
  get(name) {
    name = usv(name);
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === name) return this.#list[n][1];
    return null;
  }
  getAll(name) {
    name = usv(name);
    const out = [];
    for (let n = 0; n < this.#list.length; n++) if (this.#list[n][0] === name) push(out, this.#list[n][1]);
    return out;
  }
  has(name, value = undefined) {
    name = usv(name);
    if (value !== undefined) value = usv(value);
    for (let n = 0; n < this.#list.length; n++) {
      if (this.#list[n][0] === name && (value === undefined || this.#list[n][1] === value)) return true;
    }
    return false;
  }
  set(name, value) {
    if (arguments.length < 2) throw new TypeErrorHere('set takes a name and a value');
    name = usv(name);
    value = usv(value);
    let found = false;
    this.#keep((p) => {
      if (p[0] !== name) return true;
      if (found) return false;
      p[1] = value;
      return found = true;
    });
    if (!found) push(this.#list, [name, value]);
    this.#update();
  }
  sort() {
    sort(this.#list, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#update();
  }
  toString() { return this.#text(); }
  #text() {
    const flat = bareList();
    for (let n = 0; n < this.#list.length; n++) push(flat, this.#list[n][0], this.#list[n][1]);
    return writeQuery(stringify(flat));
  }
  #keep(test) {
    const list = this.#list;
    let kept = 0;
    for (let n = 0; n < list.length; n++) if (test(list[n])) list[kept++] = list[n];
    list.length = kept;
  }
  #update() { if (this.#changed) this.#changed(this.#text()); }
  static {
    attach = (params, changed) => { params.#changed = changed; };
    refresh = (params, text) => { params.#list = fromQuery(text); };
    internals.pairsOf = (params) => params.#list;
    internals.queryOf = (params) => params.#text();
    internals.isSearchParams = (v) => typeof v === 'object' && v !== null && #list in v;
    internals.pairMethods(URLSearchParams, (p) => p.#list);
  }
}
expose(URLSearchParams, 'Return String(params) or Object.fromEntries(params).');

class URL {
  #parts;
  #params;
  constructor(url, base = undefined) {
    if (arguments.length === 0) throw new TypeErrorHere('new URL needs a URL');
    this.#parts = parse(usv(url), base === undefined ? undefined : usv(base));
    if (typeof this.#parts === 'string') {
      const e = new TypeErrorHere(this.#parts);
      put(e, 'code', 'ERR_INVALID_URL');
      put(e, 'input', `${url}`);
      throw e;
    }
  }
  get origin() { return this.#parts[10]; }
  get searchParams() {
    if (!this.#params) {
      this.#params = new URLSearchParams(this.#parts[8]);
      attach(this.#params, (query) => { this.#parts = change(this.#parts[HREF], 'search', query); });
    }
    return this.#params;
  }
  toString() { return this.#parts[HREF]; }
  toJSON() { return this.#parts[HREF]; }
  static canParse(url, base = undefined) { return typeof parse(usv(url), base === undefined ? undefined : usv(base)) !== 'string'; }
  static parse(url, base = undefined) { return URL.canParse(url, base) ? new URL(url, base) : null; }
  #set(name, value) {
    const parts = name === 'href' ? parse(value, undefined) : change(this.#parts[HREF], name, value);
    if (typeof parts === 'string') throw new TypeErrorHere(parts);
    this.#parts = parts;
    if (this.#params && (name === 'href' || name === 'search')) refresh(this.#params, stringSlice(parts[8], 1));
  }
  static {
    for (let n = 0; n < 10; n++) {
      const name = names[n];
      internals.primordials.defineProperty(URL.prototype, name, {
        __proto__: null, configurable: true, enumerable: true,
        get() { return this.#parts[n]; },
        set(v) { this.#set(name, usv(v)); },
      });
    }
    internals.hrefOf = (v) => (typeof v === 'object' && v !== null && #parts in v ? v.#parts[HREF] : undefined);
    // withPairs is an absolute URL with pairs added to its query.
    internals.withPairs = (href, pairs) => {
      const parts = parse(href, undefined), params = new URLSearchParams(parts[8]), list = internals.pairsOf(params);
      for (let n = 0; n < pairs.length; n++) push(list, pairs[n]);
      return pairs.length === 0 ? href : change(href, 'search', internals.queryOf(params))[HREF];
    };
    // hasUser says whether an absolute URL holds a user name or a password.
    internals.hasUser = (href) => { const parts = parse(href, undefined); return parts[2] !== '' || parts[3] !== ''; };
  }
}
expose(URL);
