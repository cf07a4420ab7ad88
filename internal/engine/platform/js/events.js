// Event, EventTarget, AbortController and AbortSignal.

const {
  Map: MapHere, Set: SetHere, TypeError: TypeErrorHere, mapGet, mapSet, setAdd, setDelete, setForEach, removeAt, copyList, push, apply,
} = internals.primordials;
const { expose, DOMException } = internals;

let setTarget, setPhase, stopped, handled;

class Event {
  #type;
  #target = null;
  #current = null;
  #bubbles;
  #cancelable;
  #composed;
  #canceled = false;
  #stop = false;
  #passive = false;
  #time = host.now();
  constructor(type, init = undefined) {
    if (arguments.length === 0) throw new TypeErrorHere('an Event needs a type');
    this.#type = `${type}`;
    this.#bubbles = !!init?.bubbles;
    this.#cancelable = !!init?.cancelable;
    this.#composed = !!init?.composed;
  }
  get type() { return this.#type; }
  get target() { return this.#target; }
  get srcElement() { return this.#target; }
  get currentTarget() { return this.#current; }
  get eventPhase() { return this.#current ? 2 : 0; }
  get bubbles() { return this.#bubbles; }
  get cancelable() { return this.#cancelable; }
  get composed() { return this.#composed; }
  get defaultPrevented() { return this.#canceled; }
  get returnValue() { return !this.#canceled; }
  get timeStamp() { return this.#time; }
  get isTrusted() { return false; }
  get cancelBubble() { return this.#stop; }
  preventDefault() { if (this.#cancelable && !this.#passive) this.#canceled = true; }
  stopPropagation() {}
  stopImmediatePropagation() { this.#stop = true; }
  composedPath() { return this.#current ? [this.#current] : []; }
  static {
    setTarget = (e, target) => {
      if (!(#type in e)) throw new TypeErrorHere('dispatchEvent takes an Event');
      if (e.#current) throw new DOMException('the event is being dispatched already', 'InvalidStateError');
      e.#target = e.#current = target;
      e.#stop = false;
    };
    setPhase = (e, passive) => { e.#passive = passive; };
    stopped = (e) => e.#stop;
    handled = (e) => { e.#current = null; e.#stop = false; return !e.#canceled; };
  }
}
expose(Event, 'Return the fields of the event that you need.');

expose(class CustomEvent extends Event {
  #detail;
  constructor(type, init = undefined) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
});

let dispatch;

class EventTarget {
  #listeners = new MapHere();
  addEventListener(type, callback, options = undefined) {
    if (callback === null || callback === undefined) return;
    if (typeof callback !== 'function' && typeof callback !== 'object') throw new TypeErrorHere('a listener is a function or an object with handleEvent');
    const o = typeof options === 'object' && options !== null ? options : { capture: options }, signal = o.signal;
    const entry = { __proto__: null, callback, capture: !!o.capture, once: !!o.once, passive: !!o.passive, gone: false };
    if (signal?.aborted) return;
    const list = this.#list(`${type}`);
    for (let n = 0; n < list.length; n++) if (list[n].callback === callback && list[n].capture === entry.capture) return;
    push(list, entry);
    if (signal) internals.whenAborted(signal, () => this.removeEventListener(type, callback, entry.capture));
  }
  removeEventListener(type, callback, options = undefined) {
    const capture = !!(typeof options === 'object' && options !== null ? options.capture : options), list = this.#list(`${type}`);
    for (let n = 0; n < list.length; n++) {
      if (list[n].callback !== callback || list[n].capture !== capture) continue;
      list[n].gone = true;
      removeAt(list, n);
      return;
    }
  }
  dispatchEvent(event) { return this.#dispatch(event); }
  #list(type) {
    let list = mapGet(this.#listeners, type);
    if (!list) mapSet(this.#listeners, type, list = []);
    return list;
  }
  #dispatch(event) {
    setTarget(event, this);
    const list = copyList(this.#list(event.type));
    for (let n = 0; n < list.length && !stopped(event); n++) {
      const l = list[n];
      if (l.gone) continue;
      if (l.once) this.removeEventListener(event.type, l.callback, l.capture);
      setPhase(event, l.passive);
      this.#call(l.callback, event);
    }
    setPhase(event, false);
    return handled(event);
  }
  #call(callback, event) {
    try {
      if (typeof callback === 'function') apply(callback, this, [event]);
      else callback.handleEvent(event);
    } catch (e) {
      internals.report('a listener', e);
    }
  }
  static { dispatch = (target, event) => target.#dispatch(event); }
}
expose(EventTarget, 'Return plain data instead.');

const secret = {};
let makeSignal, abortSignal;

class AbortSignal extends EventTarget {
  #aborted = false;
  #reason = undefined;
  #steps = new SetHere();
  #handler;
  constructor(key = undefined) {
    if (key !== secret) throw new TypeErrorHere('AbortSignal has no constructor: use new AbortController().signal');
    super();
  }
  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  get onabort() { return this.#handler ?? null; }
  set onabort(f) {
    if (this.#handler === undefined) this.addEventListener('abort', (e) => { if (this.#handler) apply(this.#handler, this, [e]); });
    this.#handler = typeof f === 'function' ? f : null;
  }
  throwIfAborted() { if (this.#aborted) throw this.#reason; }
  static abort(reason = undefined) {
    const s = makeSignal();
    abortSignal(s, arguments.length ? reason : undefined);
    return s;
  }
  static timeout(ms) {
    const s = makeSignal(), time = +ms;
    if (!(time >= 0)) throw new TypeErrorHere('AbortSignal.timeout takes a number of milliseconds');
    internals.later(() => abortSignal(s, new DOMException(`the operation took longer than ${time} ms`, 'TimeoutError')), time);
    return s;
  }
  static any(signals) {
    const s = makeSignal(), all = [...signals];
    for (const one of all) if (!internals.isSignal(one)) throw new TypeErrorHere('AbortSignal.any takes a list of AbortSignals');
    for (const one of all) if (one.#aborted) { abortSignal(s, one.#reason); return s; }
    for (const one of all) internals.whenAborted(one, () => abortSignal(s, one.#reason));
    return s;
  }
  static {
    makeSignal = () => new AbortSignal(secret);
    abortSignal = (s, reason) => {
      if (s.#aborted) return;
      s.#aborted = true;
      s.#reason = reason !== undefined ? reason : new DOMException('the operation was aborted', 'AbortError');
      const steps = s.#steps;
      s.#steps = new SetHere();
      setForEach(steps, (step) => step());
      dispatch(s, new Event('abort'));
    };
    internals.isSignal = (v) => typeof v === 'object' && v !== null && #aborted in v;
    // whenAborted calls step at once or later; what it returns takes that back.
    internals.whenAborted = (s, step) => {
      if (!internals.isSignal(s)) throw new TypeErrorHere('signal must be an AbortSignal');
      if (s.#aborted) { step(); return () => {}; }
      setAdd(s.#steps, step);
      return () => { setDelete(s.#steps, step); };
    };
    // follow is a signal of its own that aborts as s does, if there is an s.
    internals.follow = (s) => {
      const own = makeSignal();
      if (s) internals.whenAborted(s, () => abortSignal(own, s.#reason));
      return own;
    };
    internals.reasonOf = (s) => s.#reason;
    internals.isAborted = (s) => s.#aborted;
  }
}
expose(AbortSignal, 'Return signal.aborted.');

class AbortController {
  #signal = makeSignal();
  get signal() { return this.#signal; }
  abort(reason = undefined) { abortSignal(this.#signal, reason); }
}
expose(AbortController, 'Return plain data instead.');
internals.AbortController = AbortController;

// ctx.signal: made when a body first asks for it.
let signal, ended;
const endings = {
  __proto__: null,
  cancelled: () => new DOMException('the call was cancelled', 'AbortError'),
  deadline: () => new DOMException("the call's deadline is near", 'TimeoutError'),
};
internals.callSignal = () => {
  if (!signal) {
    signal = makeSignal();
    if (ended) abortSignal(signal, endings[ended]());
  }
  return signal;
};
internals.abort = (reason) => {
  ended = reason === 'cancelled' ? reason : 'deadline';
  if (signal) abortSignal(signal, endings[ended]());
};
