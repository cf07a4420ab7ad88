// Request, Response and fetch. The network is the host's: fetch is a request like any other.

const {
  TypeError: TypeErrorHere, RangeError: RangeErrorHere, Uint8Array: Bytes, toUpperCase, exec, stringify, viewLength,
} = internals.primordials;
const { expose, put, usv, Body, DOMException, ask, content, contentOf, contentBytes, isThere, lockHeaders, headerList, headersOf, defaultHeader } = internals;
const HeadersHere = Headers;

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
let planOfRequest;

// planOf reads what Request takes: {url, method, content, headers, redirect, signal, from, init}. headers are undefined where
// there are none. type is the media type of a body that says none itself.
function planOf(url, from, init, type) {
  const o = init ?? {}, method = o.method !== undefined ? methodOf(o.method) : from ? from.method : 'GET';
  const body = o.body !== undefined && o.body !== null ? contentOf(o.body) : undefined;
  if (method === 'GET' || method === 'HEAD') {
    if (body || from && o.method === undefined && internals.hasBody(from.request)) throw new TypeErrorHere(`a ${method} request cannot have a body`);
  }
  const moved = body ?? (from ? internals.moveContent(from.request) : contentOf(null));
  const given = o.headers !== undefined ? o.headers : from && headersOf(from.request);
  let headers = given !== undefined ? new HeadersHere(given) : undefined;
  if (body && (type ?? body.type)) defaultHeader(headers ??= new HeadersHere(), 'content-type', type ?? body.type);
  const redirect = o.redirect !== undefined ? `${o.redirect}` : from ? from.redirect : 'follow';
  if (!redirects[redirect]) throw new TypeErrorHere('redirect is one of follow, manual, error');
  const signal = o.signal !== undefined ? o.signal : from?.signal;
  if (signal !== null && signal !== undefined && !internals.isSignal(signal)) throw new TypeErrorHere('signal must be an AbortSignal');
  return { __proto__: null, url, method, content: moved, headers, redirect, signal: signal ?? undefined };
}

// fetchPlan is planOf for fetch, which leaves a URL in text to the host: only the host's own refusals keep their code.
function fetchPlan(input, init, type) {
  const from = planOfRequest(input);
  return planOf(from ? from.url : typeof input === 'string' ? usv(input) : urlOf(input), from, init, type);
}

class Request extends Body {
  #plan;
  #init;
  constructor(input, init) {
    if (arguments.length === 0) throw new TypeErrorHere('a Request needs a URL');
    const from = planOfRequest(input), plan = planOf(from ? from.url : urlOf(input), from, init), o = init ?? {};
    super(plan.content, plan.headers ?? new HeadersHere());
    plan.request = this;
    this.#plan = plan;
    this.#init = from ? input.#init : { __proto__: null, mode: `${o.mode ?? 'cors'}`, credentials: `${o.credentials ?? 'same-origin'}`, cache: `${o.cache ?? 'default'}`, keepalive: !!o.keepalive };
  }
  get url() { return this.#plan.url; }
  get method() { return this.#plan.method; }
  get redirect() { return this.#plan.redirect; }
  get signal() { return (this.#plan.signal ??= new AbortController().signal); }
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
    const p = this.#plan, copy = new Request(p.url, { method: p.method, headers: headersOf(this), redirect: p.redirect, signal: p.signal });
    return internals.withContent(copy, internals.copyContent(this));
  }
  static {
    planOfRequest = (v) => (typeof v === 'object' && v !== null && #plan in v ? v.#plan : undefined);
  }
}
expose(Request, 'Pass it to fetch.');

const noBody = { __proto__: null, 101: 1, 103: 1, 204: 1, 205: 1, 304: 1 };
const badReason = /[^\t\x20-\x7e\x80-\xff]/;
const made = {}; // tells Response that its parts are ready

class Response extends Body {
  #head; // {url, status, statusText, redirected, type}
  constructor(body, init) {
    if (body === made) {
      super(init.content, init.headers, init.list);
      this.#head = init.head;
      return;
    }
    const o = init ?? {}, status = o.status === undefined ? 200 : +o.status & 0xffff, c = contentOf(body ?? null);
    if (status < 200 || status > 599) throw new RangeErrorHere('the status of a Response is between 200 and 599');
    if (body !== null && body !== undefined && noBody[status]) throw new TypeErrorHere(`a Response with status ${status} has no body`);
    const statusText = o.statusText === undefined ? '' : `${o.statusText}`;
    if (exec(badReason, statusText)) throw new TypeErrorHere('statusText holds characters that a status line cannot');
    const headers = new HeadersHere(o.headers);
    if (c.type) defaultHeader(headers, 'content-type', c.type);
    super(c, headers);
    this.#head = { __proto__: null, url: '', status, statusText, redirected: false, type: 'default' };
  }
  get status() { return this.#head.status; }
  get ok() { return this.#head.status >= 200 && this.#head.status < 300; }
  get statusText() { return this.#head.statusText; }
  get url() { return this.#head.url; }
  get type() { return this.#head.type; }
  get redirected() { return this.#head.redirected; }
  clone() {
    const head = this.#head, headers = new HeadersHere(headersOf(this));
    return new Response(made, { content: internals.copyContent(this), headers: head.type === 'default' ? headers : lockHeaders(headers), head });
  }
  static error() {
    const head = { __proto__: null, url: '', status: 0, statusText: '', redirected: false, type: 'error' };
    return new Response(made, { content: content(undefined, null), headers: lockHeaders(new HeadersHere()), head });
  }
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
  static {
    internals.isResponse = (v) => typeof v === 'object' && v !== null && #head in v;
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
  const data = isThere(p.content) ? contentBytes(p.content) : undefined;
  return p.signal === undefined && (data === undefined || data instanceof Bytes) ? ask('net.fetch', textOf(p, limits), data) : sendLater(p, limits, data);
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
  const head = { __proto__: null, url: v.url, status: v.status, statusText: v.statusText ?? '', redirected: !!v.redirected, type: 'basic' };
  return new Response(made, { __proto__: null, content: c, list: v.headers, head });
}

// For fetchJson, which needs no Response unless something is wrong.
internals.net = { __proto__: null, fetchPlan, send, received, responseOf };

put(globalThis, 'fetch', async function fetch(input, init = undefined) {
  const p = fetchPlan(input, init), answer = await send(p, undefined);
  return responseOf(answer.value, received(p, answer));
});

internals.lazy('blob', ['Blob', 'File']);
internals.lazy('forms', ['FormData']);
internals.lazy('streams', ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController', 'CountQueuingStrategy', 'ByteLengthQueuingStrategy']);
internals.lazy('writable', ['WritableStream', 'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream', 'TransformStreamDefaultController', 'TextEncoderStream', 'TextDecoderStream']);
internals.lazy('compress', ['CompressionStream', 'DecompressionStream']);
