// The built-ins that the other scripts use, taken before any body runs, and the
// way out of the isolate: request.

const uncurry = Function.prototype.bind.bind(Function.prototype.call);

const primordials = {
  __proto__: null,
  uncurry,
  Promise, Map, Set, WeakMap, WeakSet, Error, TypeError, RangeError, SyntaxError, String, Number, Symbol, Date, Array, ArrayBuffer, Uint8Array, Proxy,
  apply: Reflect.apply,
  construct: Reflect.construct,
  ownKeys: Reflect.ownKeys,
  getPrototypeOf: Reflect.getPrototypeOf,
  describeProperty: Reflect.getOwnPropertyDescriptor,
  defineProperty: Reflect.defineProperty,
  setPrototypeOf: Reflect.setPrototypeOf,
  create: Object.create,
  assign: Object.assign,
  freeze: Object.freeze,
  keys: Object.keys,
  entries: Object.entries,
  hasOwn: Object.hasOwn,
  isArray: Array.isArray,
  isView: ArrayBuffer.isView,
  stringify: JSON.stringify,
  parse: JSON.parse,
  join: uncurry(Array.prototype.join),
  sort: uncurry(Array.prototype.sort),
  mapGet: uncurry(Map.prototype.get),
  mapSet: uncurry(Map.prototype.set),
  mapHas: uncurry(Map.prototype.has),
  mapDelete: uncurry(Map.prototype.delete),
  mapForEach: uncurry(Map.prototype.forEach),
  setForEach: uncurry(Set.prototype.forEach),
  mapSize: uncurry(Reflect.getOwnPropertyDescriptor(Map.prototype, 'size').get),
  setSize: uncurry(Reflect.getOwnPropertyDescriptor(Set.prototype, 'size').get),
  weakGet: uncurry(WeakMap.prototype.get),
  weakSet: uncurry(WeakMap.prototype.set),
  functionToString: uncurry(Function.prototype.toString),
  objectToString: uncurry(Object.prototype.toString),
  symbolToString: uncurry(Symbol.prototype.toString),
  bigintToString: uncurry(BigInt.prototype.toString),
  dateToISO: uncurry(Date.prototype.toISOString),
  dateValue: uncurry(Date.prototype.getTime),
  regexpToString: uncurry(RegExp.prototype.toString),
  numberToString: uncurry(Number.prototype.toString),
  booleanValue: uncurry(Boolean.prototype.valueOf),
  stringSlice: uncurry(String.prototype.slice),
  charCodeAt: uncurry(String.prototype.charCodeAt),
  indexOf: uncurry(String.prototype.indexOf),
  padEnd: uncurry(String.prototype.padEnd),
  repeat: uncurry(String.prototype.repeat),
  toWellFormed: uncurry(String.prototype.toWellFormed),
  toLowerCase: uncurry(String.prototype.toLowerCase),
  toUpperCase: uncurry(String.prototype.toUpperCase),
  split: uncurry(String.prototype.split),
  trim: uncurry(String.prototype.trim),
  exec: uncurry(RegExp.prototype.exec),
  then: uncurry(Promise.prototype.then),
  setAdd: uncurry(Set.prototype.add),
  setHas: uncurry(Set.prototype.has),
  setDelete: uncurry(Set.prototype.delete),
  bytesSet: uncurry(Uint8Array.prototype.set),
  dateNow: Date.now,
  trunc: Math.trunc,
  Object, RegExp,
};

const boxes = [Number, String, Boolean, BigInt];
for (let n = 0; n < boxes.length; n++) boxes[n] = uncurry(boxes[n].prototype.valueOf);
primordials.boxedValue = (v) => {
  for (let n = 0; n < boxes.length; n++) {
    try { return boxes[n](v); } catch { /* not of this kind */ }
  }
};

// Lists of the platform's own are read by index and changed by these: iteration, and the methods of arrays, ask
// prototypes that bodies can change for setters, iterators and species, and would hand them the lists.
primordials.push = (list, ...values) => {
  for (let n = 0; n < values.length; n++) host.define(list, list.length, values[n]);
};
primordials.removeAt = (list, at) => {
  const gone = list[at];
  for (let n = at + 1; n < list.length; n++) list[n - 1] = list[n];
  list.length--;
  return gone;
};
// bareList makes a list for stringify: it has no toJSON.
primordials.bareList = () => {
  const list = [];
  primordials.setPrototypeOf(list, null);
  return list;
};
primordials.copyList = (list) => {
  const out = [];
  for (let n = 0; n < list.length; n++) primordials.push(out, list[n]);
  return out;
};

// getters of views and buffers, which bodies can shadow on the objects themselves.
const getter = (prototype, name) => uncurry(Reflect.getOwnPropertyDescriptor(prototype, name).get);
const views = { __proto__: null };
const typedArray = Reflect.getPrototypeOf(Uint8Array.prototype);
for (const [prefix, prototype] of [['view', typedArray], ['data', DataView.prototype]]) {
  for (const name of ['buffer', 'byteOffset', 'byteLength']) primordials[prefix + name] = getter(prototype, name);
}
for (const Class of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array, Float32Array, Float64Array]) {
  views[Class.name] = Class;
}
if (typeof Float16Array === 'function') views.Float16Array = Float16Array;
primordials.viewTag = getter(typedArray, Symbol.toStringTag);
primordials.viewClass = (v) => views[primordials.viewTag(v)];
primordials.regexpSource = getter(RegExp.prototype, 'source');
primordials.regexpFlags = getter(RegExp.prototype, 'flags');
primordials.bufferTransfer = uncurry(ArrayBuffer.prototype.transfer);
primordials.errorClasses = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
primordials.viewLength = getter(typedArray, 'length');
primordials.bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
// Parts and copies of bytes, which ask for no species either.
primordials.bytesPart = (v, from = 0, to = primordials.viewLength(v)) => new primordials.Uint8Array(primordials.viewbuffer(v), primordials.viewbyteOffset(v) + from, to - from);
primordials.bytesSlice = (v, from = 0, to = primordials.viewLength(v)) => {
  const out = new primordials.Uint8Array(to - from);
  primordials.bytesSet(out, primordials.bytesPart(v, from, to));
  return out;
};
primordials.bufferSlice = (b, from, to) => primordials.viewbuffer(primordials.bytesSlice(new primordials.Uint8Array(b), from, to));
internals.primordials = primordials;

// The engine makes `${a} ${b}` by calling the method concat of the first piece. Were a body to replace it, no text that the platform
// puts together or converts would be what it seems.
primordials.defineProperty(String.prototype, 'concat', { __proto__: null, writable: false, configurable: false });

// put gives the global object (or another) a property as the web does: writable, configurable, not enumerable.
internals.put = (target, name, value) =>
  primordials.defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });

// opaque maps the prototypes of platform objects that JSON would write as {} to what to return instead.
internals.opaque = new WeakMap();

internals.explain = (v) => {
  for (let p = primordials.getPrototypeOf(v); p !== null; p = primordials.getPrototypeOf(p)) {
    const hint = primordials.weakGet(internals.opaque, p);
    if (hint !== undefined) return hint;
  }
  return undefined;
};

// show makes the members of a class enumerable, as Web IDL has them.
const show = (o) => {
  const names = primordials.ownKeys(o);
  for (let n = 0; n < names.length; n++) {
    const name = names[n], p = primordials.describeProperty(o, name);
    if (typeof name !== 'string' || name === 'constructor' || !p.configurable || primordials.hasOwn(p, 'value') && typeof p.value !== 'function') continue;
    primordials.defineProperty(o, name, { __proto__: null, enumerable: true });
  }
};
// name gives a class its toStringTag, and its members their looks; expose makes it global as well. hint is what to do instead of returning one.
const tag = Symbol.toStringTag;
internals.name = (Class) => {
  show(Class);
  show(Class.prototype);
  primordials.defineProperty(Class.prototype, tag, { __proto__: null, value: Class.name, configurable: true });
};
internals.expose = (Class, hint) => {
  internals.name(Class);
  // What a body has put there itself stays.
  const there = primordials.describeProperty(globalThis, Class.name);
  if (!there || !primordials.hasOwn(there, 'value')) internals.put(globalThis, Class.name, Class);
  if (hint) primordials.weakSet(internals.opaque, Class.prototype, hint);
};

// need runs a script that isolates start without, once.
const loaded = { __proto__: null };
internals.need = (script) => {
  if (loaded[script]) return;
  host.load(script);
  loaded[script] = true;
};
// lazy makes globals that run their script when they are first asked for.
internals.lazy = (script, names) => {
  for (let n = 0; n < names.length; n++) {
    const name = names[n];
    primordials.defineProperty(globalThis, name, {
      __proto__: null, configurable: true, enumerable: false,
      get() { internals.need(script); return primordials.describeProperty(globalThis, name).value; },
      set(v) { internals.put(globalThis, name, v); },
    });
  }
};

// usv is v as a string without lone surrogates: what Web IDL calls a USVString.
internals.usv = (v) => primordials.toWellFormed(`${v}`);

// inspectShort is text for an error message.
internals.inspectShort = (s) => primordials.stringify(s.length > 80 ? primordials.stringSlice(s, 0, 80) + '…' : s);

// replace is String.replace with a pattern of the platform's own.
internals.replace = uncurry(RegExp.prototype[Symbol.replace]);

// bytes is the memory of a buffer or a view as a Uint8Array, or undefined for anything else.
internals.bytes = (v) => {
  const p = primordials, Bytes = p.Uint8Array;
  switch (host.classOf(v)) {
    case 'view': return new Bytes(p.viewbuffer(v), p.viewbyteOffset(v), p.viewbyteLength(v));
    case 'dataview': return new Bytes(p.databuffer(v), p.databyteOffset(v), p.databyteLength(v));
    case 'buffer': return new Bytes(v);
  }
  return undefined;
};

// attempt calls f and gives fallback when it throws anything a body may throw.
internals.attempt = (f, fallback) => {
  try {
    return f();
  } catch {
    return fallback;
  }
};

const { stringify, parse } = primordials;
let lastID = 0;

// ask asks the host, with arguments that are JSON text already, and promises {value, data}. take, if given, receives a
// function that takes the request back.
internals.ask = (op, text, data, take) => {
  const id = ++lastID, promise = host.send(id, op, text, data);
  if (take) take((reason) => host.takeBack(id, reason));
  return promise;
};
internals.request = (op, args, data, take) => internals.ask(op, stringify(args), data, take);

// tell is a request whose answer nobody waits for.
internals.tell = (op, args) => host.send(++lastID, op, stringify(args), undefined, true);
