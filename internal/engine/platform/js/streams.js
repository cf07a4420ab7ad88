// ReadableStream, as far as the bodies of requests and responses need it: default
// readers, tee, pipes, async iteration. There are no byte-stream readers.

const { Promise: PromiseHere, TypeError: TypeErrorHere, RangeError: RangeErrorHere, Symbol: SymbolHere, push, removeAt, apply, viewLength, bytesSlice, getPrototypeOf } = internals.primordials;
const { expose, need } = internals;

const resolved = (v) => new PromiseHere((done) => done(v));
const ignore = () => {}, rethrow = (e) => { throw e; }, nothing = { __proto__: null };
// settled calls yes or no once what f returns has settled. It awaits instead of calling then, which a body may have replaced,
// and which asks for a species.
async function settled(f, yes, no) {
  let v;
  try {
    v = await f();
  } catch (e) {
    no(e);
    return;
  }
  yes(v);
}
// quiet marks a promise as seen, so that its rejection is not reported.
const quiet = (p) => { settled(() => p, ignore, ignore); return p; };
internals.deferred = () => {
  const d = { __proto__: null };
  d.promise = new PromiseHere((resolve, reject) => { d.resolve = resolve; d.reject = reject; });
  return d;
};
internals.quiet = quiet;

expose(class CountQueuingStrategy {
  #mark;
  constructor(o) { this.#mark = +o.highWaterMark; }
  get highWaterMark() { return this.#mark; }
  get size() { return () => 1; }
});
expose(class ByteLengthQueuingStrategy {
  #mark;
  constructor(o) { this.#mark = +o.highWaterMark; }
  get highWaterMark() { return this.#mark; }
  get size() { return (chunk) => chunk.byteLength; }
});

const secret = {};

class ReadableStreamDefaultController {
  #stream;
  constructor(key = undefined, stream = undefined) {
    if (key !== secret) throw new TypeErrorHere('this class has no constructor');
    this.#stream = stream;
  }
  get desiredSize() { return internals.desired(this.#stream); }
  enqueue(chunk = undefined) { internals.enqueue(this.#stream, chunk); }
  close() { internals.closeStream(this.#stream); }
  error(e = undefined) { internals.failStream(this.#stream, e); }
}
expose(ReadableStreamDefaultController);

const method = (o, name) => {
  const f = o[name];
  if (f === undefined || f === null) return undefined;
  if (typeof f !== 'function') throw new TypeErrorHere(`${name} must be a function`);
  return (...args) => apply(f, o, args);
};

class ReadableStream {
  #state = 'readable';
  #error;
  #queue = []; // [chunk, size]
  #size = 0;
  #mark;
  #measure;
  #pull;
  #cancel;
  #controller;
  #started = false;
  #pulling = false;
  #again = false;
  #closing = false;
  #disturbed = false;
  #reader;
  #waiting = []; // reads without a chunk: {resolve, reject}
  constructor(source = nothing, strategy = nothing) {
    if (source === null || typeof source !== 'object') throw new TypeErrorHere('a ReadableStream takes an object with start, pull and cancel');
    if (source.type !== undefined && source.type !== 'bytes') throw new TypeErrorHere(`${source.type} is no type of a ReadableStream`);
    this.#mark = strategy.highWaterMark === undefined ? (source.type === 'bytes' ? 0 : 1) : +strategy.highWaterMark;
    if (!(this.#mark >= 0)) throw new RangeErrorHere('highWaterMark must be a number that is not negative');
    this.#measure = method(strategy, 'size');
    this.#pull = method(source, 'pull');
    this.#cancel = method(source, 'cancel');
    this.#controller = new ReadableStreamDefaultController(secret, this);
    const begun = method(source, 'start')?.(this.#controller);
    settled(() => begun, () => { this.#started = true; this.#want(); }, (e) => this.#fail(e));
  }
  get locked() { return this.#reader !== undefined; }
  cancel(reason = undefined) {
    if (this.#reader) return PromiseHere.reject(new TypeErrorHere('the stream is locked to a reader: cancel the reader'));
    return this.#stop(reason);
  }
  getReader(options = undefined) {
    if (options?.mode !== undefined) throw new TypeErrorHere('only default readers exist here: call getReader() without a mode');
    return new ReadableStreamDefaultReader(this);
  }
  tee() { return internals.tee(this, false); }
  pipeTo(destination, options = undefined) {
    need('writable');
    return internals.pipe(this, destination, options ?? nothing);
  }
  pipeThrough(pair, options = undefined) {
    need('writable');
    const { readable, writable } = pair;
    if (!internals.isStream(readable) || !internals.isSink(writable)) throw new TypeErrorHere('pipeThrough takes {readable, writable}, such as a TransformStream');
    if (this.#reader) throw new TypeErrorHere('the stream is locked to a reader');
    if (writable.locked) throw new TypeErrorHere('the destination is locked to a writer');
    quiet(internals.pipe(this, writable, options ?? nothing));
    return readable;
  }
  values(options = undefined) { return iterate(this, new ReadableStreamDefaultReader(this), !!options?.preventCancel); }
  static from(list) { return internals.streamFrom(list); }
  #stop(reason) {
    this.#disturbed = true;
    if (this.#state === 'closed') return resolved();
    if (this.#state === 'errored') return PromiseHere.reject(this.#error);
    this.#queue = [];
    this.#size = 0;
    this.#end();
    const cancel = this.#cancel;
    this.#pull = this.#cancel = undefined;
    return settled(() => cancel?.(reason), ignore, rethrow);
  }
  #end() {
    this.#state = 'closed';
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let n = 0; n < waiting.length; n++) waiting[n].resolve({ value: undefined, done: true });
    internals.readerEnded(this.#reader);
  }
  #fail(e) {
    if (this.#state !== 'readable') return;
    this.#state = 'errored';
    this.#error = e;
    this.#queue = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let n = 0; n < waiting.length; n++) waiting[n].reject(e);
    internals.readerEnded(this.#reader, e);
  }
  #read() {
    this.#disturbed = true;
    if (this.#queue.length > 0) {
      const first = removeAt(this.#queue, 0), chunk = first[0], size = first[1];
      this.#size = this.#queue.length === 0 ? 0 : this.#size - size;
      if (this.#closing && this.#queue.length === 0) this.#end();
      else this.#want();
      return resolved({ value: chunk, done: false });
    }
    if (this.#state === 'errored') return PromiseHere.reject(this.#error);
    if (this.#state === 'closed') return resolved({ value: undefined, done: true });
    const d = internals.deferred();
    push(this.#waiting, d);
    this.#want();
    return d.promise;
  }
  #want() {
    if (!this.#pull || !this.#started || this.#closing || this.#state !== 'readable') return;
    if (this.#waiting.length === 0 && this.#mark - this.#size <= 0) return;
    if (this.#pulling) { this.#again = true; return; }
    this.#pulling = true;
    settled(() => this.#pull(this.#controller), () => {
      this.#pulling = false;
      if (this.#again) { this.#again = false; this.#want(); }
    }, (e) => this.#fail(e));
  }
  #enqueue(chunk) {
    if (this.#closing || this.#state !== 'readable') throw new TypeErrorHere('the stream is closed: nothing can be put into it');
    if (this.#waiting.length > 0) {
      removeAt(this.#waiting, 0).resolve({ value: chunk, done: false });
    } else {
      let size = 1;
      try {
        if (this.#measure) size = +this.#measure(chunk);
        if (!(size >= 0 && size < Infinity)) throw new RangeErrorHere('the size of a chunk must be a number that is not negative');
      } catch (e) {
        this.#fail(e);
        throw e;
      }
      push(this.#queue, [chunk, size]);
      this.#size += size;
    }
    this.#want();
  }
  #close() {
    if (this.#closing || this.#state !== 'readable') throw new TypeErrorHere('the stream is closed already');
    this.#closing = true;
    if (this.#queue.length === 0) this.#end();
  }
  static {
    internals.isStream = (v) => typeof v === 'object' && v !== null && #queue in v;
    internals.isDisturbed = (s) => s.#disturbed;
    internals.isLocked = (s) => s.#reader !== undefined;
    internals.stateOf = (s) => s.#state;
    internals.errorOf = (s) => s.#error;
    internals.desired = (s) => (s.#state === 'errored' ? null : s.#state === 'closed' ? 0 : s.#mark - s.#size);
    internals.wantsMore = (s) => s.#waiting.length > 0 || s.#mark - s.#size > 0;
    internals.enqueue = (s, chunk) => s.#enqueue(chunk);
    internals.closeStream = (s) => s.#close();
    internals.failStream = (s, e) => s.#fail(e);
    internals.readStream = (s) => s.#read();
    internals.stopStream = (s, reason) => s.#stop(reason);
    internals.lockStream = (s, reader) => {
      if (!(typeof s === 'object' && s !== null && #queue in s)) throw new TypeErrorHere('a reader needs a ReadableStream');
      if (s.#reader) throw new TypeErrorHere('the stream is locked to a reader already');
      s.#reader = reader;
    };
    internals.unlockStream = (s) => {
      const waiting = s.#waiting;
      s.#waiting = [];
      s.#reader = undefined;
      for (let n = 0; n < waiting.length; n++) waiting[n].reject(new TypeErrorHere('the reader was released'));
    };
    internals.primordials.defineProperty(ReadableStream.prototype, SymbolHere.asyncIterator, { __proto__: null, value: ReadableStream.prototype.values, writable: true, configurable: true });
  }
}
expose(ReadableStream, 'Read it: await new Response(stream).text().');

class ReadableStreamDefaultReader {
  #stream;
  #closed = internals.deferred();
  constructor(stream) {
    internals.lockStream(stream, this);
    this.#stream = stream;
    quiet(this.#closed.promise);
    const state = internals.stateOf(stream);
    if (state === 'closed') this.#closed.resolve();
    if (state === 'errored') this.#closed.reject(internals.errorOf(stream));
  }
  get closed() { return this.#closed.promise; }
  read() { return this.#stream ? internals.readStream(this.#stream) : PromiseHere.reject(new TypeErrorHere('the reader was released')); }
  cancel(reason = undefined) { return this.#stream ? internals.stopStream(this.#stream, reason) : PromiseHere.reject(new TypeErrorHere('the reader was released')); }
  releaseLock() { this.#release(); }
  #release() {
    if (!this.#stream) return;
    internals.unlockStream(this.#stream);
    this.#stream = undefined;
    const e = new TypeErrorHere('the reader was released');
    this.#closed.reject(e);
    this.#closed = internals.deferred();
    quiet(this.#closed.promise);
    this.#closed.reject(e);
  }
  static {
    internals.readerOf = (stream) => new ReadableStreamDefaultReader(stream);
    internals.releaseReader = (reader) => reader.#release();
    internals.closedOf = (reader) => reader.#closed.promise;
    internals.readerEnded = (reader, ...why) => {
      if (!reader) return;
      if (why.length > 0) reader.#closed.reject(why[0]);
      else reader.#closed.resolve();
    };
  }
}
expose(ReadableStreamDefaultReader);

const asyncIterator = getPrototypeOf(getPrototypeOf(async function* () {}.prototype));

function iterate(stream, reader, keep) {
  let over = false;
  return {
    __proto__: asyncIterator,
    async next() {
      if (over) return { value: undefined, done: true };
      try {
        const r = await internals.readStream(stream);
        if (r.done) { over = true; internals.releaseReader(reader); }
        return r;
      } catch (e) {
        over = true;
        internals.releaseReader(reader);
        throw e;
      }
    },
    async return(value) {
      if (over) return { value, done: true };
      over = true;
      const ended = keep ? undefined : internals.stopStream(stream, value);
      internals.releaseReader(reader);
      await ended;
      return { value, done: true };
    },
  };
}

// puller reads a stream as the bodies of requests are read: bytes, then undefined.
internals.puller = (stream) => {
  new ReadableStreamDefaultReader(stream); // locks it
  return async () => {
    const { value, done } = await internals.readStream(stream);
    if (done) return undefined;
    const b = internals.bytes(value);
    if (b === undefined) throw new TypeErrorHere('the stream of a body must give Uint8Arrays');
    return b;
  };
};

// streamOf is a stream over a content's bytes, which it copies since others may have them too, or over its source.
internals.streamOf = (content, used) => {
  let data = content.data;
  const source = content.source;
  const s = new ReadableStream({
    __proto__: null,
    type: 'bytes',
    async pull() {
      const chunk = source ? await source.pull() : data && bytesSlice(data);
      data = undefined;
      if (internals.stateOf(s) !== 'readable') return; // cancelled meanwhile
      if (chunk === undefined || viewLength(chunk) === 0) internals.closeStream(s);
      else internals.enqueue(s, chunk);
    },
    cancel() { source?.cancel(); },
  });
  if (used) {
    quiet(internals.stopStream(s));
    new ReadableStreamDefaultReader(s); // stays locked, as by whoever read it
  }
  return s;
};

internals.streamFrom = (list) => {
  if (typeof list === 'string' || list === null || list === undefined) throw new TypeErrorHere('ReadableStream.from takes something to iterate over');
  const f = list[SymbolHere.asyncIterator] ?? list[SymbolHere.iterator];
  if (typeof f !== 'function') throw new TypeErrorHere('ReadableStream.from takes something to iterate over');
  const it = apply(f, list, []);
  const s = new ReadableStream({
    __proto__: null,
    async pull() {
      const r = await it.next();
      if (r.done) internals.closeStream(s);
      else internals.enqueue(s, await r.value);
    },
    async cancel(reason) { await it.return?.(reason); },
  }, { __proto__: null, highWaterMark: 0 });
  return s;
};

// tee gives two streams of the same chunks; copying: the second one of copies.
internals.tee = (stream, copying) => {
  const reader = new ReadableStreamDefaultReader(stream), cancelled = [undefined, undefined], branches = [];
  const ended = internals.deferred();
  let reading = false, again = false;
  const alive = (f) => { for (let n = 0; n < 2; n++) if (!cancelled[n] && internals.stateOf(branches[n]) === 'readable') f(branches[n], n); };
  const copyOf = (chunk) => {
    const b = internals.bytes(chunk);
    return b === undefined ? chunk : bytesSlice(b);
  };
  async function pull() {
    if (reading) { again = true; return; }
    reading = true;
    try {
      const { value, done } = await internals.readStream(stream);
      if (done) { alive(internals.closeStream); ended.resolve(); } else alive((b, n) => internals.enqueue(b, copying && n === 1 ? copyOf(value) : value));
    } catch (e) {
      alive((b) => internals.failStream(b, e));
      ended.resolve();
    }
    reading = false;
    if (again) { again = false; await pull(); }
  }
  for (let n = 0; n < 2; n++) {
    push(branches, new ReadableStream({
      __proto__: null,
      pull,
      cancel(reason) {
        cancelled[n] = [reason];
        if (cancelled[1 - n]) ended.resolve(internals.stopStream(stream, [cancelled[0][0], cancelled[1][0]]));
        return ended.promise;
      },
    }, { __proto__: null, highWaterMark: 0 }));
  }
  settled(() => internals.closedOf(reader), ignore, (e) => alive((b) => internals.failStream(b, e)));
  return branches;
};
