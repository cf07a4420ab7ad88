// ctx, env, params and fs: what a call knows about itself, and what it can ask the host for.

const {
  Error: ErrorHere, TypeError: TypeErrorHere, Uint8Array: Bytes, assign, create, keys, isArray, stringify, parse, stringSlice, entries, push,
  getPrototypeOf, viewLength, bufferLength, bareList, Object: ObjectHere,
} = internals.primordials;
const { put, ask, request, encode, decode, bytes, usv, content, defaultHeader } = internals;
const { isThere, isWhole, contentBytes } = internals.bodies;
const { fetchPlan, send, received, withoutHash } = internals.net;
const none = { __proto__: null }; // options that are not there
const HeadersHere = Headers;
const toBase64 = host.native('base64.bytes'), toHex = host.native('hex.encode');

// bytesOf is what is to be written: text as UTF-8, or bytes as they are.
function bytesOf(data, what) {
  if (typeof data === 'string') return encode(data);
  const b = bytes(data) ?? internals.blobBytes?.(data);
  if (b === undefined) throw new TypeErrorHere(`${what} takes text or bytes; for a value, pass JSON.stringify(value)`);
  return b;
}

async function file(op, args, data) {
  if (typeof args.path !== 'string') throw new TypeErrorHere('the path of a file is text, relative to the folder of the workspace');
  return await request(op, assign(create(null), args), data);
}

const read = async (path) => new Bytes((await file('files.read', { path })).data ?? 0);
const write = async (path, data, append) => (await file('files.write', { path, append }, data)).value;

const fileMethods = {
  async readText(path) { return decode(await read(path)); },
  async readBytes(path) { return await read(path); },
  async writeText(path, text) { return await write(path, encode(usv(text)), false); },
  async writeBytes(path, data) { return await write(path, bytesOf(data, 'writeBytes'), false); },
  async appendText(path, text) { return await write(path, encode(usv(text)), true); },
  async listFiles(path = '.', options = none) { return parse(decode(new Bytes((await file('files.list', { path, recursive: !!options?.recursive })).data))); },
  async stat(path) { return (await file('files.stat', { path })).value; },
  async remove(path, options = none) { await file('files.remove', { path, recursive: !!options?.recursive }); },
  async mkdir(path) { await file('files.mkdir', { path }); },
};

// withQuery adds {name: value or list} to a URL; what is undefined or null is left out.
function withQuery(url, query) {
  const href = internals.requestURL(url), list = [];
  if (internals.isSearchParams(query)) query = internals.pairsOf(query);
  const pairs = isArray(query) ? query : entries(query);
  for (let n = 0; n < pairs.length; n++) {
    const name = usv(pairs[n][0]), value = pairs[n][1], values = isArray(value) ? value : [value];
    for (let m = 0; m < values.length; m++) if (values[m] !== undefined && values[m] !== null) push(list, [name, usv(values[m])]);
  }
  return internals.withPairs(href, list);
}

const isPlain = (v) => typeof v === 'object' && v !== null && (isArray(v) || getPrototypeOf(v) === ObjectHere.prototype || getPrototypeOf(v) === null);

const plain = { __proto__: null, method: 'GET', content: content(undefined, null), signal: undefined }; // of fetchJson without options

async function fetchJson(url, options) {
  if (options === undefined && typeof url === 'string') {
    const answer = await ask('net.fetch', `{"url":${stringify(usv(url))},"method":"GET","headers":[["accept","application/json"]],"redirect":"follow"}`);
    return isGood(answer.value) ? valueOf(answer.data) : await readJSON(plain, answer);
  }
  const o = options ?? none, json = isPlain(o.body), target = o.query === undefined || o.query === null ? url : withQuery(url, o.query);
  const method = o.method ?? (o.body === undefined || o.body === null ? 'GET' : 'POST');
  const init = { __proto__: null, method, headers: o.headers, body: json ? stringify(o.body) : o.body, signal: o.signal, redirect: o.redirect };
  const p = fetchPlan(target, init, json ? 'application/json' : undefined);
  defaultHeader(p.headers ??= new HeadersHere(), 'accept', 'application/json');
  const limits = { __proto__: null, timeoutMs: o.timeoutMs === undefined ? undefined : +o.timeoutMs, maxBytes: o.maxBytes === undefined ? undefined : +o.maxBytes };
  return await readJSON(p, await send(p, limits));
}

// isGood says whether all of an answer is there, and nothing is wrong with it, as nearly always.
const isGood = (v) => v.done && v.status === 200;
// valueOf is the value of a body in a buffer; no body at all is null.
const valueOf = (data) => (data === undefined || bufferLength(data) === 0 ? null : internals.parseBytes(data));

async function readJSON(p, answer) {
  const v = answer.value, c = received(p, answer);
  const got = isThere(c) ? contentBytes(c) : undefined, data = got === undefined || isWhole(c) ? got : await got;
  if (v.status < 200 || v.status > 299) throw refusal(p.method, v, data === undefined ? '' : decode(data));
  return data === undefined || viewLength(data) === 0 ? null : internals.parseBytes(data);
}

function refusal(method, v, text) {
  const start = text.length > 500 ? stringSlice(text, 0, 500) + '…' : text;
  const e = new ErrorHere(`${method} ${withoutHash(v.url)} answered ${v.status}${v.statusText ? ' ' + v.statusText : ''}${start ? ': ' + start : ''}`);
  put(e, 'status', v.status);
  put(e, 'body', start);
  put(e, 'headers', internals.receivedHeaders(v.headers));
  return e;
}

const methods = {
  ...fileMethods,
  fetchJson,
  async callTool(name, args = {}) {
    const { data } = await request('tool.call', { __proto__: null, name: `${name}` }, encode(stringify(args) ?? 'null'));
    return parse(decode(new Bytes(data)));
  },
  async exec(command, args = [], options = none) {
    if (!isArray(args)) throw new TypeErrorHere('exec takes the command and its arguments as a list: ctx.exec("git", ["status"]); there is no shell');
    const list = bareList();
    for (let n = 0; n < args.length; n++) push(list, `${args[n]}`);
    const input = options?.input === undefined ? undefined : bytesOf(options.input, 'the input of exec');
    const { value, data } = await request('exec.run', { __proto__: null, command: `${command}`, args: list, timeoutMs: options?.timeoutMs, cwd: options?.cwd }, input);
    const text = (from, size) => (size > 0 ? decode(new Bytes(data, from, size)) : ''); // data is stdout, then stderr
    return { exitCode: value.exitCode, stdout: text(0, value.stdoutBytes), stderr: text(value.stdoutBytes, value.stderrBytes), truncated: value.truncated };
  },
  secret(name) {
    const p = (async () => (await request('secrets.standin', { __proto__: null, name: `${name}` })).value)();
    put(p, 'toString', () => { throw new TypeErrorHere('ctx.secret gives a promise: write `await ctx.secret(name)`'); });
    return p;
  },
  // hmac gives bytes, or text when the encoding is hex or base64.
  async hmac(secretName, algorithm, data, encoding) {
    const { data: out } = await request('secrets.hmac', { __proto__: null, name: `${secretName}`, algorithm: `${algorithm}` }, bytesOf(data, 'hmac'));
    const signature = new Bytes(out);
    return encoding === 'hex' ? toHex(signature) : encoding === 'base64' ? toBase64(signature) : signature;
  },
  progress(done, total, message) {
    host.progress(+done || 0, total === undefined ? 0 : +total || 0, message === undefined ? '' : `${message}`);
  },
};
internals.ctxMethods = methods;
const prototype = create(null);
internals.ctxPrototype = prototype;
internals.primordials.defineProperty(prototype, 'signal', { __proto__: null, get: () => internals.callSignal(), enumerable: false, configurable: true });

const fs = {};
const asBytes = (encoding) => encoding === null || encoding === 'bytes' || encoding === 'buffer';
const fsMethods = {
  async readFile(path, options) { return (asBytes(typeof options === 'object' && options !== null ? options.encoding ?? 'utf8' : options) ? fileMethods.readBytes : fileMethods.readText)(path); },
  async writeFile(path, data) { return await write(path, bytesOf(data, 'writeFile'), false); },
  async appendFile(path, data) { return await write(path, bytesOf(data, 'appendFile'), true); },
  list: fileMethods.listFiles, stat: fileMethods.stat, remove: fileMethods.remove, mkdir: fileMethods.mkdir,
};
for (const name of keys(fsMethods)) put(fs, name, fsMethods[name]);
put(globalThis, 'fs', fs);

// The properties are there already when a call begins: adding one to the global object copies its whole shape.
const globals = globalThis;
put(globals, 'params', undefined);
put(globals, 'env', undefined);
internals.begin = (args, env) => {
  globals.params = args;
  globals.env = env;
  return assign(create(prototype), env);
};
