// structuredClone. The kind of an object is what the engine says, never what its properties say.

const {
  Map: MapHere, Set: SetHere, Date: DateHere, RegExp: RegExpHere, Error: ErrorHere, TypeError: TypeErrorHere, Object: ObjectHere,
  mapGet, mapSet, mapHas, mapForEach, setForEach, setAdd, setHas, dateValue, keys, hasOwn, describeProperty, defineProperty,
  viewbuffer, viewbyteOffset, viewLength, databuffer, databyteOffset, databyteLength, bufferSlice, bufferTransfer, errorClasses, viewClass,
  regexpSource, regexpFlags, boxedValue,
} = internals.primordials;
const { DOMException, put } = internals;

const refuse = (what) => { throw new DOMException(`${what} cannot be cloned`, 'DataCloneError'); };

// cloners maps the prototypes of platform objects to functions that clone them.
internals.cloners = [];

const define = (target, key, value) =>
  defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

function members(from, to, memory) {
  const names = keys(from);
  for (let n = 0; n < names.length; n++) {
    if (hasOwn(from, names[n])) define(to, names[n], clone(from[names[n]], memory));
  }
  return to;
}

function cloneError(v, memory) {
  const own = (name) => describeProperty(v, name)?.value;
  const out = new (errorClasses[v.name] ?? ErrorHere)();
  for (const name of ['message', 'stack']) {
    if (own(name) !== undefined) put(out, name, `${own(name)}`);
  }
  mapSet(memory, v, out);
  if (hasOwn(v, 'cause')) put(out, 'cause', clone(v.cause, memory));
  return out;
}

function cloneMap(v, memory) {
  const out = new MapHere(), list = [];
  mapSet(memory, v, out);
  mapForEach(v, (value, key) => { define(list, list.length, [key, value]); });
  for (let n = 0; n < list.length; n++) mapSet(out, clone(list[n][0], memory), clone(list[n][1], memory));
  return out;
}

function cloneSet(v, memory) {
  const out = new SetHere(), list = [];
  mapSet(memory, v, out);
  setForEach(v, (value) => { define(list, list.length, value); });
  for (let n = 0; n < list.length; n++) setAdd(out, clone(list[n], memory));
  return out;
}

function cloneView(v, memory) {
  const Class = viewClass(v);
  return new Class(clone(viewbuffer(v), memory), viewbyteOffset(v), viewLength(v));
}

function cloneOther(v) {
  for (let n = 0; n < internals.cloners.length; n++) {
    const copy = internals.cloners[n](v);
    if (copy !== undefined) return copy;
  }
  return undefined;
}

function cloneObject(v, memory) {
  switch (host.classOf(v)) {
    case 'date': return new DateHere(dateValue(v));
    case 'regexp': return new RegExpHere(regexpSource(v), regexpFlags(v));
    case 'boxed': return ObjectHere(boxedValue(v));
    case 'buffer': return bufferSlice(v, 0);
    case 'view': return cloneView(v, memory);
    case 'dataview': return new DataView(clone(databuffer(v), memory), databyteOffset(v), databyteLength(v));
    case 'error': return cloneError(v, memory);
    case 'map': return cloneMap(v, memory);
    case 'set': return cloneSet(v, memory);
    case 'array': return fill(v, new Array(v.length), memory);
    case 'object': return cloneOther(v) ?? (internals.explain(v) ? refuse(`a ${v.constructor?.name ?? 'platform object'}`) : fill(v, {}, memory));
    case 'function': return refuse(`the function ${v.name || '(anonymous)'}`);
  }
  return refuse(`#<${v.constructor?.name ?? 'Object'}>`);
}

function fill(from, to, memory) {
  mapSet(memory, from, to);
  return members(from, to, memory);
}

function clone(v, memory) {
  if (typeof v === 'symbol') refuse('a symbol');
  if ((typeof v !== 'object' && typeof v !== 'function') || v === null) return v;
  if (mapHas(memory, v)) return mapGet(memory, v);
  const out = cloneObject(v, memory);
  mapSet(memory, v, out);
  return out;
}

function takeOver(list, memory) {
  const seen = new SetHere();
  for (const v of list) {
    if (host.classOf(v) !== 'buffer') throw new DOMException('only an ArrayBuffer can be transferred', 'DataCloneError');
    if (setHas(seen, v)) throw new DOMException('an ArrayBuffer is in the transfer list twice', 'DataCloneError');
    setAdd(seen, v);
  }
  return seen;
}

put(globalThis, 'structuredClone', function structuredClone(value, options) {
  if (arguments.length === 0) throw new TypeErrorHere('structuredClone needs a value');
  const memory = new MapHere(), given = takeOver(options?.transfer ?? []);
  // A transferred buffer is moved only once everything could be cloned, as the standard says.
  const out = clone(value, memory);
  setForEach(given, (buffer) => { bufferTransfer(buffer); });
  return out;
});
internals.clone = (v) => clone(v, new MapHere());
