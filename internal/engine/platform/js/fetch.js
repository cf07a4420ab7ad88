// Request, Response and fetch. The network is the host's: fetch is a request like any other.

const {
  TypeError: TypeErrorHere, RangeError: RangeErrorHere, Uint8Array: Bytes, toUpperCase, exec, stringify, viewLength, indexOf, stringSlice, create, keys,
} = internals.primordials;
const { expose, put, usv, ask, content, contentOf, lockHeaders, headerList, defaultHeader } = internals;
const { bodyMembers, headersOf, copyContent, moveContent, checkUnread, isThere, isWhole, contentBytes } = internals.bodies;
const HeadersHere = Headers;
const made = {}; // tells Request and Response that their state is ready

const normal = { __proto__: null, DELETE: 1, GET: 1, HEAD: 1, OPTIONS: 1, POST: 1, PUT: 1 };

function methodOf(v) {
  const method = `${v}`, upper = toUpperCase(method);
  if (!internals.isToken(method)) throw new TypeErrorHere(`${internals.inspectShort(method)} is not a valid HTTP method`);
  if (upper === 'CONNECT' || upper === 'TRACE' || upper === 'TRACK') throw new TypeErrorHere(`the method ${upper} is not allowed`);
  return normal[upper] ? upper : method;
}

// urlOf is what fetch and Request were given as URL, as an absolute one.
function urlOf(input) {
  if (input === undefined || input === null || input === '') throw new TypeErrorHere(`fetch needs a URL, and was given ${input === '' ? 'empty text' : input}`);
  const parts = internals.parseURL(usv(internals.hrefOf(input) ?? `${input}`), undefined);
  if (typeof parts === 'string') {
    throw new TypeErrorHere(`${parts}; an absolute URL is needed, such as https://example.com/path`);
  }
  return parts[0];
}

internals.requestURL = urlOf;

const redirects = { __proto__: null, follow: 1, manual: 1, error: 1 };
const nothing = { __proto__: null }; // the members of an init that is not there
let stateOfRequest;

const initOf = (init) => {
  if (init === undefined || init === null) return nothing;
  if (typeof init !== 'object' && typeof init !== 'function') throw new TypeErrorHere('what follows the URL or the body is an object, such as { method: "POST" }');
  return init;
};

// planOf reads what Request takes: {url, method, content, headers, redirect, signal}. headers are undefined where
// there are none. from is the state of the Request that was given instead of a URL; its body moves. type is the media type of a body that says none itself.
function planOf(url, from, init, type) {
  const o = initOf(init), method = o.method !== undefined ? methodOf(o.method) : from ? from.method : 'GET';
  const body = o.body !== undefined && o.body !== null ? contentOf(o.body) : undefined;
  const inherits = !body && from !== undefined && isThere(from.content);
  if ((method === 'GET' || method === 'HEAD') && (body || from && isThere(from.content))) throw new TypeErrorHere(`a ${method} request cannot have a body`);
  if (inherits) checkUnread(from);
  const given = o.headers !== undefined ? o.headers : from && headersOf(from);
  let headers = given !== undefined ? new HeadersHere(given) : undefined;
  if (body && (type ?? body.type)) defaultHeader(headers ??= new HeadersHere(), 'content-type', type ?? body.type);
  const redirect = o.redirect !== undefined ? `${o.redirect}` : from ? from.redirect : 'follow';
  if (!redirects[redirect]) throw new TypeErrorHere('redirect is one of follow, manual, error');
  const signal = (o.signal !== undefined ? o.signal : from?.signal) ?? undefined;
  if (signal !== undefined && !internals.isSignal(signal)) throw new TypeErrorHere('signal must be an AbortSignal');
  return { __proto__: null, url, method, content: body ?? (inherits ? moveContent(from) : content(undefined, null)), headers, redirect, signal };
}

// fetchPlan is planOf for fetch, which leaves a URL in text to the host: only the host's own refusals keep their code.
function fetchPlan(input, init, type) {
  const from = stateOfRequest(input);
  return planOf(from ? from.url : typeof input === 'string' ? usv(input) : urlOf(input), from, init, type);
}

// What else a Request tells of itself, as it was given; nothing here depends on it.
const notes = { __proto__: null, mode: 'cors', credentials: 'same-origin', cache: 'default', referrer: 'about:client', referrerPolicy: '', integrity: '', keepalive: false };
const noted = keys(notes);

class Request {
  #s; // a plan, and what bodyMembers says
  constructor(input, init = undefined) {
    if (input === made) { this.#s = init; return; }
    if (arguments.length === 0) throw new TypeErrorHere('a Request needs a URL');
    const from = stateOfRequest(input), url = from ? from.url : urlOf(input);
    if (!from && internals.hasUser(url)) throw new TypeErrorHere('a Request takes no URL with a user name or a password: send them in the header authorization');
    const s = planOf(url, from, init), o = initOf(init), old = from ? from.notes : notes;
    s.headers ??= new HeadersHere();
    s.used = false;
    s.notes = create(null);
    for (let n = 0; n < noted.length; n++) s.notes[noted[n]] = Request.#note(o[noted[n]], old[noted[n]]);
    this.#s = s;
  }
  static #note(v, old) { return v === undefined ? old : typeof old === 'boolean' ? !!v : `${v}`; }
  get url() { return this.#s.url; }
  get method() { return this.#s.method; }
  get redirect() { return this.#s.redirect; }
  get signal() { return (this.#s.shown ??= internals.follow(this.#s.signal)); }
  get mode() { return this.#s.notes.mode; }
  get credentials() { return this.#s.notes.credentials; }
  get cache() { return this.#s.notes.cache; }
  get keepalive() { return this.#s.notes.keepalive; }
  get destination() { return ''; }
  get integrity() { return this.#s.notes.integrity; }
  get referrer() { return this.#s.notes.referrer; }
  get referrerPolicy() { return this.#s.notes.referrerPolicy; }
  get duplex() { return 'half'; }
  clone() {
    const s = this.#s, copy = copyContent(s);
    return new Request(made, {
      __proto__: null, url: s.url, method: s.method, content: copy, headers: new HeadersHere(headersOf(s)), redirect: s.redirect, signal: s.signal, used: false, notes: s.notes,
    });
  }
  static {
    stateOfRequest = (v) => (typeof v === 'object' && v !== null && #s in v ? v.#s : undefined);
    bodyMembers(Request, (r) => r.#s);
  }
}
expose(Request, 'Pass it to fetch.');

const noBody = { __proto__: null, 101: 1, 103: 1, 204: 1, 205: 1, 304: 1 };
const badReason = /[^\t\x20-\x7e\x80-\xff]/;

class Response {
  #s; // {url, status, statusText, redirected, type}, and what bodyMembers says
  constructor(body = undefined, init = undefined) {
    if (body === made) { this.#s = init; return; }
    const o = initOf(init), status = o.status === undefined ? 200 : +o.status & 0xffff;
    if (status < 200 || status > 599) throw new RangeErrorHere('the status of a Response is between 200 and 599');
    const statusText = o.statusText === undefined ? '' : `${o.statusText}`;
    if (exec(badReason, statusText)) throw new TypeErrorHere('statusText holds characters that a status line cannot');
    const headers = new HeadersHere(o.headers), c = contentOf(body ?? null);
    if (isThere(c) && noBody[status]) throw new TypeErrorHere(`a Response with status ${status} has no body`);
    if (c.type) defaultHeader(headers, 'content-type', c.type);
    this.#s = stateOfResponse(c, headers, undefined, '', status, statusText, false, 'default');
  }
  get status() { return this.#s.status; }
  get ok() { return this.#s.status >= 200 && this.#s.status < 300; }
  get statusText() { return this.#s.statusText; }
  get url() { return withoutHash(this.#s.url); }
  get type() { return this.#s.type; }
  get redirected() { return this.#s.redirected; }
  clone() {
    const s = this.#s, copy = copyContent(s), headers = new HeadersHere(headersOf(s));
    return new Response(made, stateOfResponse(copy, s.type === 'default' ? headers : lockHeaders(headers), undefined, s.url, s.status, s.statusText, s.redirected, s.type));
  }
  static error() { return new Response(made, stateOfResponse(content(undefined, null), lockHeaders(new HeadersHere()), undefined, '', 0, '', false, 'error')); }
  static redirect(url, status = 302) {
    const parts = internals.parseURL(usv(url), undefined), code = +status & 0xffff;
    if (typeof parts === 'string') throw new TypeErrorHere(parts);
    if (code !== 301 && code !== 302 && code !== 303 && code !== 307 && code !== 308) throw new RangeErrorHere(`${code} is not the status of a redirect`);
    const headers = new HeadersHere();
    defaultHeader(headers, 'location', parts[0]);
    return new Response(made, stateOfResponse(content(undefined, null), lockHeaders(headers), undefined, '', code, '', false, 'default'));
  }
  static json(data, init = undefined) {
    const text = stringify(data);
    if (text === undefined) throw new TypeErrorHere('the value cannot be written as JSON');
    const o = initOf(init), headers = new HeadersHere(o.headers);
    defaultHeader(headers, 'content-type', 'application/json');
    return new Response(text, { __proto__: null, status: o.status, statusText: o.statusText, headers });
  }
  static {
    bodyMembers(Response, (r) => r.#s);
  }
}
expose(Response, 'Call .json() or .text() on it and return that.');

function stateOfResponse(c, headers, list, url, status, statusText, redirected, type) {
  return { __proto__: null, content: c, used: false, headers, list, url, status, statusText, redirected, type };
}

function withoutHash(url) {
  const at = indexOf(url, '#');
  return at < 0 ? url : stringSlice(url, 0, at);
}

// Streams that a body lets go of without reading them to their end are closed when the engine next collects garbage; the host closes the rest.
const close = (stream) => internals.tell('net.close', { __proto__: null, stream });
const forgotten = new FinalizationRegistry(close);
const register = internals.primordials.uncurry(FinalizationRegistry.prototype.register);

// source pulls the rest of a response's body from the host.
function source(first, stream, signal) {
  let next = viewLength(first) > 0 ? first : undefined, done = false, failed;
  const self = { __proto__: null, pull, cancel };
  const end = () => { done = true; off(); };
  const off = signal ? internals.whenAborted(signal, () => { failed = true; if (!done) close(stream); done = true; }) : () => {};
  async function pull() {
    for (;;) {
      if (failed) throw internals.reasonOf(signal);
      if (next !== undefined) { const chunk = next; next = undefined; return chunk; }
      if (done) return undefined;
      let stop;
      const undo = signal && internals.whenAborted(signal, () => stop?.(internals.reasonOf(signal)));
      try {
        const answer = await internals.request('net.read', { __proto__: null, stream }, undefined, (f) => { stop = f; });
        if (answer.value?.done) end();
        if (answer.data !== undefined) next = new Bytes(answer.data);
        if (next !== undefined && viewLength(next) === 0) next = undefined;
      } catch (e) {
        end();
        throw e;
      } finally {
        undo?.();
      }
    }
  }
  function cancel() {
    if (!done) close(stream);
    end();
  }
  register(forgotten, self, stream);
  return self;
}

// textOf is what the host is asked for, as JSON. It is put together by hand because every fetch pays for it.
function textOf(p, limits) {
  const list = p.headers ? headerList(p.headers) : [];
  let headers = '';
  for (let n = 0; n < list.length; n++) headers += `${n ? ',' : ''}[${stringify(list[n][0])},${stringify(list[n][1])}]`;
  let text = `{"url":${stringify(p.url)},"method":${stringify(p.method)},"headers":[${headers}],"redirect":"${p.redirect}"`;
  if (limits?.timeoutMs !== undefined) text += `,"timeoutMs":${stringify(limits.timeoutMs)}`;
  if (limits?.maxBytes !== undefined) text += `,"maxBytes":${stringify(limits.maxBytes)}`;
  return text + '}';
}

// send asks the host for what p describes, and promises {value, data}. limits, if there are any, are {timeoutMs, maxBytes}.
function send(p, limits) {
  const c = p.content, data = isThere(c) ? contentBytes(c) : undefined;
  return p.signal === undefined && (data === undefined || isWhole(c)) ? ask('net.fetch', textOf(p, limits), data) : sendLater(p, limits, data);
}

// sendLater is send where the body is still to be read, or a signal may take the request back.
async function sendLater(p, limits, data) {
  const signal = p.signal, reason = () => internals.reasonOf(signal);
  if (signal && internals.isAborted(signal)) throw reason();
  data = await data;
  if (signal && internals.isAborted(signal)) throw reason();
  let stop;
  const undo = signal && internals.whenAborted(signal, () => stop?.(reason()));
  try {
    return await ask('net.fetch', textOf(p, limits), data, (f) => { stop = f; });
  } finally {
    undo?.();
  }
}

// received is the content of the answer to p.
function received(p, { value, data }) {
  const first = data === undefined ? new Bytes(0) : new Bytes(data), c = content(undefined, null);
  if (!value.done) c.source = source(first, value.stream, p.signal);
  else if (p.method !== 'HEAD' && !noBody[value.status]) c.data = first;
  return c;
}

function responseOf(v, c) {
  return new Response(made, stateOfResponse(c, undefined, v.headers, v.url, v.status, v.statusText, v.redirected, 'basic'));
}

// For fetchJson, which needs no Response unless something is wrong.
internals.net = { __proto__: null, fetchPlan, send, received, withoutHash };

async function start(input, init) {
  const p = fetchPlan(input, init), answer = await send(p, undefined);
  return responseOf(answer.value, received(p, answer));
}
put(globalThis, 'fetch', { fetch(input, init = undefined) { return start(input, init); } }.fetch);

internals.lazy('blob', ['Blob', 'File']);
internals.lazy('forms', ['FormData']);
internals.lazy('streams', ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController', 'CountQueuingStrategy', 'ByteLengthQueuingStrategy']);
internals.lazy('writable', ['WritableStream', 'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream', 'TransformStreamDefaultController', 'TextEncoderStream', 'TextDecoderStream']);
internals.lazy('compress', ['CompressionStream', 'DecompressionStream']);
