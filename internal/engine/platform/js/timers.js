// Timers, ordered by the host. What a callback throws is logged and ends nothing.

const { Map: MapHere, TypeError: TypeErrorHere, mapGet, mapSet, mapDelete, mapHas, apply } = internals.primordials;
const { put } = internals;
const set = new MapHere();
let lastID = 0;

function start(callback, ms, args, again, quiet) {
  if (typeof callback !== 'function') throw new TypeErrorHere('a timer takes a function, not text or any other value');
  const id = ++lastID, delay = +ms;
  mapSet(set, id, { __proto__: null, callback, args, delay, again });
  host.timer(id, delay, quiet === true);
  return id;
}

function clear(id) {
  id = typeof id === 'number' ? id : +id;
  if (mapDelete(set, id)) host.clearTimer(id);
}

// later is a timer of the platform's own: the body need not know that it is still set.
internals.later = (callback, ms) => start(callback, ms, [], false, true);
internals.never = clear;

internals.report = (where, e) => {
  const text = internals.describe(e);
  host.log('error', `uncaught in ${where}: ${text[0] ? text[0] + ': ' : ''}${text[1]}`);
};

internals.fire = (id) => {
  const t = mapGet(set, id);
  if (!t) return;
  if (!t.again) mapDelete(set, id);
  try {
    apply(t.callback, globalThis, t.args);
  } catch (e) {
    internals.report('a timer', e);
  }
  // At least a millisecond apart, so that an interval of 0 leaves time for everything else.
  if (t.again && mapHas(set, id)) host.timer(id, t.delay >= 1 ? t.delay : 1);
};

put(globalThis, 'setTimeout', function setTimeout(callback, ms = 0, ...args) { return start(callback, ms, args, false); });
put(globalThis, 'setInterval', function setInterval(callback, ms = 0, ...args) { return start(callback, ms, args, true); });
put(globalThis, 'clearTimeout', function clearTimeout(id) { clear(id); });
put(globalThis, 'clearInterval', function clearInterval(id) { clear(id); });

const resolved = Promise.resolve();
const then = internals.primordials.uncurry(Promise.prototype.then);
put(globalThis, 'queueMicrotask', function queueMicrotask(callback) {
  if (typeof callback !== 'function') throw new TypeErrorHere('queueMicrotask takes a function');
  then(resolved, () => {
    try {
      callback();
    } catch (e) {
      internals.report('a microtask', e);
    }
  });
});
