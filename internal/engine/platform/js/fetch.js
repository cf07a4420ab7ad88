// Request, Response and fetch. The network is the host's: fetch is a request like any other.

const {
  TypeError: TypeErrorHere, RangeError: RangeErrorHere, Uint8Array: Bytes, Promise: PromiseHere, toUpperCase, push, exec, stringify, then, viewLength,
} = internals.primordials;
const { expose, put, usv, Body, DOMException, contentOf, lockHeaders, headerList, headersOf, setHeaders, defaultHeader } = internals;
const HeadersHere = Headers;

const normal = { __proto__: null, DELETE: 1, GET: 1, HEAD: 1, OPTIONS: 1, POST: 1, PUT: 1 };

function methodOf(v) {
  const method = `${v}`, upper = toUpperCase(method);
  if (!internals.isToken(method)) throw new TypeErrorHere(`${internals.inspectShort(method)} is not a valid HTTP method`);
  if (upper === 'CONNECT' || upper === 'TRACE' || upper === 'TRACK') throw new TypeErrorHere(`the method ${upper} is not allowed`);
  return normal[upper] ? upper : method;
}

// The text that was parsed last, and its parts: fetch looks at a URL before its Request does.
let parsed, parts;
function parse(text) {
  if (parsed !== text) {
    parts = internals.parseURL(usv(text), undefined);
    parsed = text;
  }
  return parts;
}

// urlOf gives the parts of what fetch and Request were given as URL.
function urlOf(input) {
  if (input === undefined || input === null || input === '') throw new TypeErrorHere(`fetch needs a URL, and was given ${input === '' ? 'empty text' : input}`);
  const parts = parse(internals.hrefOf(input) ?? `${input}`);
  if (typeof parts === 'string') {
    throw new TypeErrorHere(`${parts}; an absolute URL is needed, such as https://example.com/path`);
  }
  return parts;
}

internals.requestURL = (input) => urlOf(input)[0];

const redirects = { __proto__: null, follow: 1, manual: 1, error: 1 };

class Request extends Body {
  #url;
  #method;
  #redirect;
  #signal;
  #init;
  constructor(input, init) {
    if (arguments.length === 0) throw new TypeErrorHere('a Request needs a URL');
    const from = typeof input === 'object' && input !== null && #url in input ? input : undefined;
    const o = init ?? {}, method = o.method !== undefined ? methodOf(o.method) : from ? from.#method : 'GET';
    const parts = from ? undefined : urlOf(input);
    const body = o.body !== undefined && o.body !== null ? contentOf(o.body) : undefined;
    if (method === 'GET' || method === 'HEAD') {
      if (body || from && o.method === undefined && internals.hasBody(from)) throw new TypeErrorHere(`a ${method} request cannot have a body`);
    }
    super(body ?? (from ? internals.moveContent(from) : contentOf(null)));
    this.#url = from ? from.#url : parts[0];
    this.#method = method;
    const headers = setHeaders(this, new HeadersHere(o.headers !== undefined ? o.headers : from && headersOf(from)));
    if (body?.type) defaultHeader(headers, 'content-type', body.type);
    this.#redirect = o.redirect !== undefined ? `${o.redirect}` : from ? from.#redirect : 'follow';
    if (!redirects[this.#redirect]) throw new TypeErrorHere('redirect is one of follow, manual, error');
    this.#signal = o.signal !== undefined ? o.signal : from?.#signal;
    if (this.#signal !== null && this.#signal !== undefined && !internals.isSignal(this.#signal)) throw new TypeErrorHere('signal must be an AbortSignal');
    this.#init = from ? from.#init : { __proto__: null, mode: `${o.mode ?? 'cors'}`, credentials: `${o.credentials ?? 'same-origin'}`, cache: `${o.cache ?? 'default'}`, keepalive: !!o.keepalive };
  }
  get url() { return this.#url; }
  get method() { return this.#method; }
  get redirect() { return this.#redirect; }
  get signal() { return (this.#signal ??= new AbortController().signal); }
  get mode() { return this.#init.mode; }
  get credentials() { return this.#init.credentials; }
  get cache() { return this.#init.cache; }
  get keepalive() { return this.#init.keepalive; }
  get destination() { return ''; }
  get integrity() { return ''; }
  get referrer() { return 'about:client'; }
  get referrerPolicy() { return ''; }
  get duplex() { return 'half'; }
  clone() {
    const copy = new Request(this.#url, { method: this.#method, headers: headersOf(this), redirect: this.#redirect, signal: this.#signal });
    return internals.withContent(copy, internals.copyContent(this));
  }
  static {
    internals.requestParts = (r) => ({ __proto__: null, url: r.#url, method: r.#method, headers: headerList(headersOf(r)), redirect: r.#redirect, signal: r.#signal ?? undefined });
  }
}
expose(Request, 'Pass it to fetch.');

const noBody = { __proto__: null, 101: 1, 103: 1, 204: 1, 205: 1, 304: 1 };
const badReason = /[^\t\x20-\x7e\x80-\xff]/;

class Response extends Body {
  #status;
  #statusText;
  #url = '';
  #type = 'default';
  #redirected = false;
  constructor(body, init) {
    const o = init ?? {}, status = o.status === undefined ? 200 : +o.status & 0xffff, c = contentOf(body ?? null);
    if (status < 200 || status > 599) throw new RangeErrorHere('the status of a Response is between 200 and 599');
    if (body !== null && body !== undefined && noBody[status]) throw new TypeErrorHere(`a Response with status ${status} has no body`);
    super(c);
    this.#status = status;
    this.#statusText = o.statusText === undefined ? '' : `${o.statusText}`;
    if (exec(badReason, this.#statusText)) throw new TypeErrorHere('statusText holds characters that a status line cannot');
    const headers = setHeaders(this, new HeadersHere(o.headers));
    if (c.type) defaultHeader(headers, 'content-type', c.type);
  }
  get status() { return this.#status; }
  get ok() { return this.#status >= 200 && this.#status < 300; }
  get statusText() { return this.#statusText; }
  get url() { return this.#url; }
  get type() { return this.#type; }
  get redirected() { return this.#redirected; }
  clone() {
    const copy = internals.withContent(new Response(null, { status: 200 }), internals.copyContent(this));
    const headers = new HeadersHere(headersOf(this));
    return Response.#fill(copy, this.#status, this.#statusText, this.#type === 'default' ? headers : lockHeaders(headers), this.#url, this.#type, this.#redirected);
  }
  static error() { return Response.#fill(new Response(), 0, '', lockHeaders(new HeadersHere()), '', 'error', false); }
  static redirect(url, status = 302) {
    const parts = internals.parseURL(usv(url), undefined);
    if (typeof parts === 'string') throw new TypeErrorHere(parts);
    if (status !== 301 && status !== 302 && status !== 303 && status !== 307 && status !== 308) throw new RangeErrorHere(`${status} is not the status of a redirect`);
    return new Response(null, { status, headers: [['location', parts[0]]] });
  }
  static json(data, init) {
    const text = stringify(data);
    if (text === undefined) throw new TypeErrorHere('the value cannot be written as JSON');
    const headers = new HeadersHere(init?.headers);
    defaultHeader(headers, 'content-type', 'application/json');
    return new Response(text, { status: init?.status, statusText: init?.statusText, headers });
  }
  static #fill(r, status, statusText, headers, url, type, redirected) {
    r.#status = status;
    r.#statusText = statusText;
    setHeaders(r, headers);
    r.#url = url;
    r.#type = type;
    r.#redirected = redirected;
    return r;
  }
  static {
    // answered makes the response of a fetch.
    internals.answered = (v, content) => {
      const headers = new HeadersHere(), list = headerList(headers);
      for (let n = 0; n < v.headers.length; n++) push(list, [internals.primordials.toLowerCase(v.headers[n][0]), v.headers[n][1]]);
      const r = internals.withContent(new Response(), content);
      return Response.#fill(r, v.status, v.statusText ?? '', lockHeaders(headers), v.url, 'basic', !!v.redirected);
    };
    internals.isResponse = (v) => typeof v === 'object' && v !== null && #url in v;
  }
}
expose(Response, 'Call .json() or .text() on it and return that.');

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

async function start(request, limits) {
  const r = internals.requestParts(request), signal = r.signal;
  if (signal && internals.isAborted(signal)) throw internals.reasonOf(signal);
  let data = internals.hasBody(request) ? internals.takeBody(request) : undefined;
  if (data !== undefined && !(data instanceof Bytes)) data = await data;
  if (signal && internals.isAborted(signal)) throw internals.reasonOf(signal);
  let stop;
  const undo = signal && internals.whenAborted(signal, () => stop?.(internals.reasonOf(signal)));
  try {
    const args = { __proto__: null, url: r.url, method: r.method, headers: r.headers, redirect: r.redirect, timeoutMs: limits?.timeoutMs, maxBytes: limits?.maxBytes };
    const { value, data: first } = await internals.request('net.fetch', args, data, (f) => { stop = f; });
    return respond(r.method, value, first === undefined ? new Bytes(0) : new Bytes(first), signal);
  } finally {
    undo?.();
  }
}

function respond(method, value, first, signal) {
  const content = contentOf(null);
  if (!value.done) content.source = source(first, value.stream, signal);
  else if (method !== 'HEAD' && !noBody[value.status]) content.data = first;
  return internals.answered(value, content);
}

// fetchWith is fetch with limits of its own: {timeoutMs, maxBytes}.
internals.fetchWith = (input, init, limits) => new PromiseHere((resolve) => resolve(unreadable(input) ?? start(new Request(input, init), limits)));

// unreadable has the host refuse a URL that is none: only its own refusals keep their code.
function unreadable(input) {
  if (typeof input !== 'string' || typeof parse(input) !== 'string') return undefined;
  return internals.request('net.fetch', { __proto__: null, url: usv(input), method: 'GET', headers: [], redirect: 'error' });
}

put(globalThis, 'fetch', function fetch(input, init) { return internals.fetchWith(input, init, undefined); });

internals.lazy('blob', ['Blob', 'File']);
internals.lazy('forms', ['FormData']);
internals.lazy('streams', ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController', 'CountQueuingStrategy', 'ByteLengthQueuingStrategy']);
internals.lazy('writable', ['WritableStream', 'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream', 'TransformStreamDefaultController', 'TextEncoderStream', 'TextDecoderStream']);
internals.lazy('compress', ['CompressionStream', 'DecompressionStream']);
