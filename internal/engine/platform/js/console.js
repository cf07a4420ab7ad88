// console, and inspect: values as people read them. inspect never calls a
// getter, a toString or a toJSON of the value; only a proxy's traps can run, and
// whatever they throw is shown, not thrown.

const {
  ownKeys, getPrototypeOf, describeProperty, isArray, isView, stringify, join, mapForEach, setForEach, mapSize, setSize, symbolToString,
  bigintToString, dateValue, dateToISO, regexpToString, functionToString, objectToString, numberToString, stringSlice, charCodeAt,
  mapGet, mapSet, mapHas, mapDelete, padEnd, repeat, Map: MapHere, Error: ErrorHere, ArrayBuffer: ArrayBufferHere, Number: NumberHere,
} = internals.primordials;
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
  return typeof stack === 'string' && stack ? `${head}\n${stack.trimEnd()}` : head;
}

function member(v, key, seen, level) {
  const d = describeProperty(v, key);
  if (!d || !d.enumerable) return undefined;
  const name = typeof key === 'symbol' ? `[${symbolToString(key)}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
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
  internals.primordials.defineProperty(parts, parts.length, { __proto__: null, value: text, writable: true, enumerable: true, configurable: true });
}

function members(v, seen, level, parts, skip) {
  let left = 0;
  for (const key of ownKeys(v)) {
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
  else members(v, seen, level, parts, (key) => typeof key === 'string' && /^\d+$/.test(key));
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

function special(v, seen, level) {
  if (typeof v === 'function') {
    const name = data(v, 'name');
    const source = attempt(() => functionToString(v), '');
    return source.startsWith('class') ? `[class ${name || '(anonymous)'}]` : `[Function: ${name || '(anonymous)'}]`;
  }
  if (attempt(() => v instanceof ErrorHere, false)) return errorText(v);
  if (isArray(v)) return arrayText(v, seen, level);
  for (const [tag, test] of [['Map', mapSize], ['Set', setSize]]) {
    if (attempt(() => test(v) >= 0, false)) return collectionText(v, tag, seen, level);
  }
  const time = attempt(() => dateValue(v), undefined);
  if (time !== undefined) return time === time ? dateToISO(v) : 'Invalid Date';
  if (attempt(() => objectToString(v), '') === '[object RegExp]') return attempt(() => regexpToString(v), '[RegExp]');
  if (isView(v) && typeof v.length === 'number') return `${className(v)}(${v.length}) [ ${join(attempt(() => [...v].slice(0, maxItems), []), ', ')} ]`;
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
  let out = '', used = 0;
  if (typeof args[0] === 'string') {
    const pattern = args[0];
    used = 1;
    for (let n = 0; n < pattern.length; n++) {
      const c = pattern[n], f = pattern[n + 1];
      if (c !== '%' || f === undefined) { out += c; continue; }
      if (f === '%') { out += '%'; n++; continue; }
      if (used >= args.length || internals.primordials.indexOf('sdifjoOc', f) < 0) { out += c; continue; }
      out += directive(f, args[used++]);
      n++;
    }
  }
  for (; used < args.length; used++) out += (used > 0 ? ' ' : '') + internals.inspect(args[used]);
  return out;
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

function table(rows, columns) {
  if (typeof rows !== 'object' || rows === null) return write('info', format([rows]));
  const names = new MapHere([['(index)', 1]]), lines = [];
  for (const [index, row] of Object.entries(rows)) {
    const cells = new MapHere([['(index)', index]]);
    if (typeof row === 'object' && row !== null) {
      for (const key of columns ?? Object.keys(row)) { mapSet(names, key, 1); mapSet(cells, key, show(data(row, key), new MapHere(), 3)); }
    } else { mapSet(names, 'Values', 1); mapSet(cells, 'Values', show(row, new MapHere(), 3)); }
    add(lines, cells);
  }
  const widths = new MapHere();
  mapForEach(names, (_, name) => {
    let width = name.length;
    for (const cells of lines) width = Math.max(width, (mapGet(cells, name) ?? '').length);
    mapSet(widths, name, width);
  });
  const row = (get) => { let text = ''; mapForEach(widths, (width, name) => { text += (text ? ' │ ' : '') + padEnd(get(name) ?? '', width); }); return text; };
  let text = row((name) => name);
  mapForEach(widths, (width) => { text += ''; });
  let rule = '';
  mapForEach(widths, (width) => { rule += (rule ? '─┼─' : '') + repeat('─', width); });
  text += '\n' + rule;
  for (const cells of lines) text += '\n' + row((name) => mapGet(cells, name));
  write('info', text);
}

const label = (l) => l === undefined ? 'default' : attempt(() => `${l}`, 'default');

const methods = {
  log: writer('info'), info: writer('info'), warn: writer('warn'), error: writer('error'), debug: writer('debug'),
  dir: (v) => write('info', internals.inspect(v)),
  dirxml: writer('info'),
  trace: (...args) => write('debug', `Trace: ${format(args)}\n${new ErrorHere().stack}`),
  assert: (ok, ...args) => { if (!ok) write('error', `Assertion failed${args.length ? ': ' + format(args) : ''}`); },
  table: (rows, columns) => attempt(() => table(rows, columns), undefined),
  group: (...args) => { if (args.length) write('info', format(args)); if (indent.length < 40) indent += '  '; },
  groupCollapsed: (...args) => methods.group(...args),
  groupEnd: () => { indent = stringSlice(indent, 2); },
  count: (l) => { l = label(l); const n = (mapGet(counts, l) ?? 0) + 1; mapSet(counts, l, n); write('info', `${l}: ${n}`); },
  countReset: (l) => { mapDelete(counts, label(l)); },
  time: (l) => { mapSet(clocks, label(l), host.now()); },
  timeLog: (l, ...args) => { l = label(l); const t = mapGet(clocks, l); if (t !== undefined) write('info', `${l}: ${(host.now() - t).toFixed(3)} ms${args.length ? ' ' + format(args) : ''}`); },
  timeEnd: (l) => { methods.timeLog(l); mapDelete(clocks, label(l)); },
  clear: () => {},
};

const console = {};
for (const name of Object.keys(methods)) {
  const f = { [name](...args) { methods[name](...args); } }[name];
  internals.primordials.defineProperty(console, name, { __proto__: null, value: f, writable: true, enumerable: true, configurable: true });
}
put(globalThis, 'console', console);
internals.log = { __proto__: null, debug: methods.debug, info: methods.info, log: methods.log, warn: methods.warn, error: methods.error };
