// console, and inspect: values as people read them. inspect never calls a
// getter, a toString or a toJSON of the value; only a proxy's traps can run, and
// whatever they throw is shown, not thrown.

const {
  ownKeys, getPrototypeOf, describeProperty, isArray, isView, stringify, join, mapForEach, setForEach, mapSize, setSize, symbolToString,
  bigintToString, dateValue, dateToISO, regexpToString, functionToString, objectToString, numberToString, stringSlice, charCodeAt,
  mapGet, mapSet, mapHas, mapDelete, padEnd, repeat, indexOf, Map: MapHere, Error: ErrorHere, ArrayBuffer: ArrayBufferHere, Number: NumberHere,
} = internals.primordials;
const { apply, entries, keys, defineProperty } = internals.primordials;
const { attempt, put } = internals;

const maxItems = 100, maxText = 10000, maxLevels = 4;

function quote(s) {
  return stringify(s.length > maxText ? stringSlice(s, 0, maxText) + '…' : s);
}

function primitive(v, top) {
  switch (typeof v) {
    case 'string': return top ? v : quote(v);
    case 'bigint': return bigintToString(v) + 'n';
    case 'symbol': return symbolToString(v);
    case 'undefined': return 'undefined';
    case 'number': return v === 0 && 1 / v < 0 ? '-0' : numberToString(v);
    default: return v === null ? 'null' : v === true ? 'true' : 'false';
  }
}

function className(v) {
  const proto = attempt(() => getPrototypeOf(v), null);
  if (proto === null) return '[Object: null prototype]';
  const d = attempt(() => describeProperty(proto, 'constructor'), undefined);
  const f = d && d.value;
  const n = typeof f === 'function' && attempt(() => describeProperty(f, 'name'), undefined);
  return n && typeof n.value === 'string' ? n.value : 'Object';
}

const data = (v, name) => attempt(() => describeProperty(v, name)?.value, undefined);

function errorText(v) {
  let name = 'Error', message = data(v, 'message'), stack = data(v, 'stack');
  name = attempt(() => { const n = v.name; return typeof n === 'string' ? n : name; }, name);
  if (message === undefined) message = attempt(() => { const m = v.message; return typeof m === 'string' ? m : ''; }, '');
  const head = message ? `${name}: ${primitive(message, true)}` : name;
  if (typeof stack !== 'string' || stack === '') return head;
  return `${head}\n${stack[stack.length - 1] === '\n' ? stringSlice(stack, 0, -1) : stack}`;
}

// Loops go by index and tests by character: a body may replace iterators and patterns.
function isName(key) {
  for (let n = 0; n < key.length; n++) {
    const c = charCodeAt(key, n) | 32;
    if (!(c >= 97 && c <= 122 || key[n] === '_' || key[n] === '$' || n > 0 && c >= 48 && c <= 57)) return false;
  }
  return key !== '';
}

const isIndex = (key) => typeof key === 'string' && `${key >>> 0}` === key;

function member(v, key, seen, level) {
  const d = describeProperty(v, key);
  if (!d || !d.enumerable) return undefined;
  const name = typeof key === 'symbol' ? `[${symbolToString(key)}]` : isName(key) ? key : quote(key);
  const shown = d.get || d.set ? (d.get ? '[Getter]' : '[Setter]') : show(d.value, seen, level + 1);
  return `${name}: ${shown}`;
}

function list(parts, open, close) {
  if (parts.length === 0) return open + close;
  const line = join(parts, ', ');
  return open === '[' ? `[ ${line} ]` : `{ ${line} }`;
}

// Parts grow by index into an array without a prototype's setters in the way.
function add(parts, text) {
  defineProperty(parts, parts.length, { __proto__: null, value: text, writable: true, enumerable: true, configurable: true });
}

function members(v, seen, level, parts, skip) {
  let left = 0;
  const names = ownKeys(v);
  for (let n = 0; n < names.length; n++) {
    const key = names[n];
    if (skip && skip(key)) continue;
    if (parts.length >= maxItems) { left++; continue; }
    const text = member(v, key, seen, level);
    if (text !== undefined) add(parts, text);
  }
  if (left) add(parts, `… ${left} more`);
}

function arrayText(v, seen, level) {
  const parts = [];
  const length = NumberHere(data(v, 'length') ?? 0);
  for (let n = 0; n < length && n < maxItems; n++) {
    const d = describeProperty(v, n);
    add(parts, d === undefined ? '<empty>' : d.get ? '[Getter]' : show(d.value, seen, level + 1));
  }
  if (length > maxItems) add(parts, `… ${length - maxItems} more`);
  else members(v, seen, level, parts, (key) => isIndex(key) || key === 'length');
  return list(parts, '[', ']');
}

function collectionText(v, tag, seen, level) {
  const parts = [];
  let n = 0;
  const each = (value, key) => {
    if (n++ >= maxItems) return;
    add(parts, tag === 'Map' ? `${show(key, seen, level + 1)} => ${show(value, seen, level + 1)}` : show(value, seen, level + 1));
  };
  if (tag === 'Map') mapForEach(v, each); else setForEach(v, each);
  return `${tag}(${tag === 'Map' ? mapSize(v) : setSize(v)}) ${list(parts, '{', '}')}`;
}

function viewText(v) {
  const parts = [];
  for (let n = 0; n < v.length && n < maxItems; n++) add(parts, primitive(v[n]));
  if (v.length > maxItems) add(parts, `… ${v.length - maxItems} more`);
  return `${className(v)}(${v.length}) ${list(parts, '[', ']')}`;
}

function special(v, seen, level) {
  if (typeof v === 'function') {
    const name = data(v, 'name');
    const source = attempt(() => functionToString(v), '');
    return stringSlice(source, 0, 5) === 'class' ? `[class ${name || '(anonymous)'}]` : `[Function: ${name || '(anonymous)'}]`;
  }
  if (attempt(() => v instanceof ErrorHere, false)) return errorText(v);
  if (isArray(v)) return arrayText(v, seen, level);
  if (attempt(() => mapSize(v) >= 0, false)) return collectionText(v, 'Map', seen, level);
  if (attempt(() => setSize(v) >= 0, false)) return collectionText(v, 'Set', seen, level);
  const time = attempt(() => dateValue(v), undefined);
  if (time !== undefined) return time === time ? dateToISO(v) : 'Invalid Date';
  if (attempt(() => objectToString(v), '') === '[object RegExp]') return attempt(() => regexpToString(v), '[RegExp]');
  if (isView(v) && typeof v.length === 'number') return viewText(v);
  if (attempt(() => v instanceof ArrayBufferHere, false)) return `ArrayBuffer(${v.byteLength})`;
  if (attempt(() => objectToString(v), '') === '[object Promise]') return 'Promise {}';
  return undefined;
}

function object(v, seen, level) {
  const text = special(v, seen, level);
  if (text !== undefined) return text;
  const parts = [];
  members(v, seen, level, parts);
  const name = className(v);
  return (name === 'Object' ? '' : name + ' ') + list(parts, '{', '}');
}

function show(v, seen, level, top) {
  if ((typeof v !== 'object' && typeof v !== 'function') || v === null) return primitive(v, top);
  if (mapHas(seen, v)) return '[Circular]';
  if (level > maxLevels) return isArray(v) ? '[Array]' : '[Object]';
  mapSet(seen, v, 1);
  const text = attempt(() => object(v, seen, level), '[an object that cannot be shown]');
  mapDelete(seen, v);
  return text;
}

internals.inspect = (v) => show(v, new MapHere(), 0, true);

// format joins the arguments of a console method; the first may hold %s, %d, %i, %f, %j, %o, %O, %c and %%.
function format(args) {
  if (args.length === 0) return '';
  let used = 1, out = internals.inspect(args[0]);
  if (args.length > 1 && typeof args[0] === 'string') {
    const filled = fill(args[0], args);
    out = filled.text;
    used = filled.used;
  }
  for (; used < args.length; used++) out += ' ' + internals.inspect(args[used]);
  return out;
}

// fill puts arguments where the pattern has directives, and tells how many of args it used.
function fill(pattern, args) {
  let out = '', used = 1, from = 0;
  for (;;) {
    const at = indexOf(pattern, '%', from), f = pattern[at + 1];
    if (at < 0 || f === undefined) return { __proto__: null, text: out + stringSlice(pattern, from), used };
    out += stringSlice(pattern, from, at);
    from = at + 2;
    if (f === '%') out += '%';
    else if (used >= args.length || indexOf('sdifjoOc', f) < 0) out += '%' + f;
    else out += directive(f, args[used++]);
  }
}

function directive(f, v) {
  switch (f) {
    case 'd': return typeof v === 'bigint' ? primitive(v) : typeof v === 'object' ? 'NaN' : primitive(attempt(() => +v, NaN));
    case 'i': return primitive(attempt(() => parseInt(v, 10), NaN));
    case 'f': return primitive(attempt(() => parseFloat(v), NaN));
    case 'j': return attempt(() => stringify(v), '[Circular]') ?? 'undefined';
    case 'c': return '';
    default: return internals.inspect(v);
  }
}
internals.format = format;

let indent = '';
const counts = new MapHere(), clocks = new MapHere();
const write = (level, text) => host.log(level, indent + text);
const writer = (level) => (...args) => write(level, format(args));

function cells(row, columns, names) {
  const out = new MapHere();
  const put = (name, text) => { mapSet(names, name, 1); mapSet(out, name, text); };
  if (typeof row !== 'object' || row === null) put('Values', show(row, new MapHere(), 3));
  else {
    const list = columns ?? keys(row);
    for (let n = 0; n < list.length; n++) put(list[n], show(data(row, list[n]), new MapHere(), 3));
  }
  return out;
}

function table(rows, columns) {
  if (typeof rows !== 'object' || rows === null) return write('info', format([rows]));
  const names = new MapHere(), lines = new MapHere(), widths = new MapHere();
  const all = entries(rows);
  for (let n = 0; n < all.length; n++) mapSet(lines, all[n][0], cells(all[n][1], columns, names));
  let first = 7;
  mapForEach(lines, (_, index) => { if (index.length > first) first = index.length; });
  mapForEach(names, (_, name) => {
    let width = name.length;
    mapForEach(lines, (line) => { const c = mapGet(line, name) ?? ''; if (c.length > width) width = c.length; });
    mapSet(widths, name, width);
  });
  const row = (head, cell) => {
    let text = padEnd(head, first);
    mapForEach(widths, (width, name) => { text += ' │ ' + padEnd(cell(name) ?? '', width); });
    return text;
  };
  let text = row('(index)', (name) => name) + '\n' + repeat('─', first);
  mapForEach(widths, (width) => { text += '─┼─' + repeat('─', width); });
  mapForEach(lines, (line, index) => { text += '\n' + row(index, (name) => mapGet(line, name)); });
  write('info', text);
}

const round = Math.round;
const fixed = (ms) => numberToString(round(ms * 1000) / 1000);
const label = (l) => l === undefined ? 'default' : attempt(() => `${l}`, 'default');

const methods = {
  log: writer('info'), info: writer('info'), warn: writer('warn'), error: writer('error'), debug: writer('debug'),
  dir: (v) => write('info', internals.inspect(v)),
  dirxml: writer('info'),
  trace: (...args) => write('debug', `Trace: ${format(args)}\n${new ErrorHere().stack}`),
  assert: (ok, ...args) => { if (!ok) write('error', `Assertion failed${args.length ? ': ' + format(args) : ''}`); },
  table: (rows, columns) => attempt(() => table(rows, columns), undefined),
  group: (...args) => { if (args.length) write('info', format(args)); if (indent.length < 40) indent += '  '; },
  groupCollapsed: (...args) => apply(methods.group, undefined, args),
  groupEnd: () => { indent = stringSlice(indent, 2); },
  count: (l) => { l = label(l); const n = (mapGet(counts, l) ?? 0) + 1; mapSet(counts, l, n); write('info', `${l}: ${n}`); },
  countReset: (l) => { mapDelete(counts, label(l)); },
  time: (l) => { mapSet(clocks, label(l), host.now()); },
  timeLog: (l, ...args) => { l = label(l); const t = mapGet(clocks, l); if (t !== undefined) write('info', `${l}: ${fixed(host.now() - t)} ms${args.length ? ' ' + format(args) : ''}`); },
  timeEnd: (l) => { methods.timeLog(l); mapDelete(clocks, label(l)); },
  clear: () => {},
};

const console = {};
const names = keys(methods);
for (let n = 0; n < names.length; n++) {
  const method = methods[names[n]];
  const f = { [names[n]](...args) { apply(method, undefined, args); } }[names[n]];
  defineProperty(console, names[n], { __proto__: null, value: f, writable: true, enumerable: true, configurable: true });
}
put(globalThis, 'console', console);
// ctx.log is console in short, and a function too: ctx.log('x') is ctx.log.info('x').
internals.log = function log(...args) { apply(methods.info, undefined, args); };
for (const name of ['debug', 'info', 'log', 'warn', 'error']) put(internals.log, name, console[name]);
