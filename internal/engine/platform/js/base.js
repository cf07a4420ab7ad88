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
  slice: uncurry(Array.prototype.slice),
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
  weakHas: uncurry(WeakMap.prototype.has),
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
};
internals.primordials = primordials;

// put gives the global object (or another) a property as the web does: writable, configurable, not enumerable.
internals.put = (target, name, value) =>
  primordials.defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });

// attempt calls f and gives fallback when it throws anything a body may throw.
internals.attempt = (f, fallback) => {
  try {
    return f();
  } catch {
    return fallback;
  }
};

const { Promise: PromiseHere, Map: MapHere, stringify, parse, mapGet, mapSet, mapDelete } = primordials;
const pending = new MapHere();
let lastID = 0;

// request asks the host and promises {value, data}. take, if given, receives a function that takes the request back.
internals.request = (op, args, data, take) => new PromiseHere((resolve, reject) => {
  const id = ++lastID;
  mapSet(pending, id, { __proto__: null, resolve, reject });
  if (take) take((reason) => {
    if (!mapDelete(pending, id)) return;
    host.takeBack(id);
    reject(reason);
  });
  host.send(id, op, stringify(args), data);
});

// answer settles a request. An unknown id is one that was taken back.
internals.answer = (id, error, value, data) => {
  const wait = mapGet(pending, id);
  if (!wait) return;
  mapDelete(pending, id);
  if (error !== undefined) wait.reject(internals.hostError(error));
  else wait.resolve({ __proto__: null, value, data });
};
