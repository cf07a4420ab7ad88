// ctx, env and params: what a call knows about itself.

const { assign, create, freeze } = internals.primordials;
const { put } = internals;

const methods = {
  progress: function progress(done, total, message) {
    host.progress(+done || 0, total === undefined ? 0 : +total || 0, message === undefined ? '' : `${message}`);
  },
};
internals.ctxMethods = methods;
const prototype = create(null);
internals.ctxPrototype = prototype;
internals.primordials.defineProperty(prototype, 'signal', { __proto__: null, get: () => internals.callSignal(), enumerable: false, configurable: true });

internals.begin = (args, env, files) => {
  const ctx = assign(create(prototype), env);
  put(globalThis, 'params', args);
  put(globalThis, 'env', freeze(env));
  if (internals.withFiles) internals.withFiles(ctx, files);
  return ctx;
};
