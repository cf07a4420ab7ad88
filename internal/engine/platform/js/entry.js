// The last script: gives the engine the functions it calls.

const { keys, booleanValue, weakGet, getPrototypeOf, WeakMap: WeakMapHere } = internals.primordials;
const { put } = internals;

for (const name of keys(internals.ctxMethods)) put(internals.ctxPrototype, name, internals.ctxMethods[name]);
put(internals.ctxPrototype, 'log', internals.log);

// opaque maps the prototypes of platform objects that JSON would write as {} to what to return instead.
const opaque = (internals.opaque ??= new WeakMapHere());

host.hooks({
  begin: internals.begin,
  reply: internals.answer,
  fire: internals.fire,
  abort: (reason) => { if (internals.abort) internals.abort(reason); },
  describe: internals.describe,
  makeError: internals.makeError,
  unbox: (v) => booleanValue(v),
  explain: (v) => {
    for (let p = getPrototypeOf(v); p !== null; p = getPrototypeOf(p)) {
      const hint = weakGet(opaque, p);
      if (hint !== undefined) return hint;
    }
    return undefined;
  },
});
