// The last script: gives the engine the functions it calls.

const { keys, booleanValue } = internals.primordials;
const { put } = internals;

for (const name of keys(internals.ctxMethods)) put(internals.ctxPrototype, name, internals.ctxMethods[name]);
put(internals.ctxPrototype, 'log', internals.log);

host.hooks({
  begin: internals.begin,
  refusal: internals.hostError,
  fire: internals.fire,
  abort: internals.abort,
  describe: internals.describe,
  makeError: internals.makeError,
  unbox: (v) => booleanValue(v),
  explain: internals.explain,
  need: internals.need,
});
