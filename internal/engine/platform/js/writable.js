// WritableStream, TransformStream, the text streams and pipes.

internals.need('streams');
const { Promise: PromiseHere, TypeError: TypeErrorHere, push, removeAt, then } = internals.primordials;
const { expose, deferred, quiet, encode, whenAborted, reasonOf } = internals;
const Controller = internals.AbortController;
const secret = {}, ignore = () => {};
const attempted = (f) => new PromiseHere((done) => done(f()));

class WritableStreamDefaultController {
  #stream;
  #abort = new Controller();
  constructor(key, stream) {
    if (key !== secret) throw new TypeErrorHere('this class has no constructor');
    this.#stream = stream;
  }
  get signal() { return this.#abort.signal; }
  error(e) { internals.failSink(this.#stream, e); }
  static { internals.abortSink = (c, reason) => c.#abort.abort(reason); }
}
expose(WritableStreamDefaultController);

class WritableStream {
  #sink;
  #mark;
  #measure;
  #state = 'writable'; // closing, closed, errored
  #error;
  #queue = []; // {run, size, done}
  #size = 0;
  #busy = true;
  #writer;
  #ready = deferred();
  #closed = deferred();
  #controller;
  constructor(sink = {}, strategy = {}) {
    this.#sink = sink ?? {};
    this.#mark = strategy.highWaterMark === undefined ? 1 : +strategy.highWaterMark;
    this.#measure = strategy.size;
    quiet(this.#closed.promise);
    this.#controller = new WritableStreamDefaultController(secret, this);
    if (this.#mark > 0) this.#ready.resolve();
    const begun = this.#sink.start?.(this.#controller);
    then(attempted(() => begun), () => { this.#busy = false; this.#next(); }, (e) => { this.#busy = false; this.#fail(e); });
  }
  get locked() { return this.#writer !== undefined; }
  getWriter() { return new WritableStreamDefaultWriter(this); }
  abort(reason = undefined) { return this.#writer ? PromiseHere.reject(new TypeErrorHere('the stream is locked to a writer')) : this.#abort(reason); }
  close() { return this.#writer ? PromiseHere.reject(new TypeErrorHere('the stream is locked to a writer')) : this.#close(); }
  #write(chunk) {
    if (this.#state === 'errored') return PromiseHere.reject(this.#error);
    if (this.#state !== 'writable') return PromiseHere.reject(new TypeErrorHere('the stream is closed: nothing can be written'));
    const size = this.#measure ? +this.#measure(chunk) : 1;
    return this.#add(() => this.#sink.write?.(chunk, this.#controller), size);
  }
  #close() {
    if (this.#state === 'errored') return PromiseHere.reject(this.#error);
    if (this.#state !== 'writable') return PromiseHere.reject(new TypeErrorHere('the stream is closed already'));
    this.#state = 'closing';
    const done = this.#add(() => this.#sink.close?.(), 0);
    return then(done, () => { this.#state = 'closed'; this.#closed.resolve(); });
  }
  #add(run, size) {
    const done = deferred();
    push(this.#queue, { __proto__: null, run, size, done });
    this.#size += size;
    if (this.#mark - this.#size <= 0 && this.#state === 'writable') this.#wait();
    this.#next();
    return done.promise;
  }
  #wait() {
    if (this.#full) return;
    this.#full = true;
    this.#ready = deferred();
    quiet(this.#ready.promise);
  }
  #full = false;
  #next() {
    if (this.#busy || this.#queue.length === 0) return;
    const job = removeAt(this.#queue, 0);
    this.#busy = true;
    then(attempted(job.run), () => {
      this.#busy = false;
      this.#size -= job.size;
      if (this.#mark - this.#size > 0) { this.#full = false; this.#ready.resolve(); }
      job.done.resolve();
      if (this.#state === 'errored') this.#drop();
      this.#next();
    }, (e) => {
      this.#busy = false;
      job.done.reject(e);
      this.#fail(e);
    });
  }
  #fail(e) {
    if (this.#state === 'errored' || this.#state === 'closed') return;
    this.#state = 'errored';
    this.#error = e;
    this.#drop();
    if (!this.#full) this.#wait();
    this.#ready.reject(e);
    this.#closed.reject(e);
  }
  #drop() {
    const queue = this.#queue;
    this.#queue = [];
    for (let n = 0; n < queue.length; n++) queue[n].done.reject(this.#error);
  }
  #abort(reason) {
    if (this.#state === 'closed' || this.#state === 'errored') return attempted(ignore);
    internals.abortSink(this.#controller, reason);
    this.#fail(reason);
    return then(attempted(() => this.#sink.abort?.(reason)), ignore);
  }
  static {
    internals.isSink = (v) => typeof v === 'object' && v !== null && #sink in v;
    internals.failSink = (s, e) => s.#fail(e);
    internals.sink = (s) => ({
      __proto__: null,
      write: (chunk) => s.#write(chunk), close: () => s.#close(), abort: (reason) => s.#abort(reason),
      ready: () => s.#ready.promise, closed: () => s.#closed.promise,
      desired: () => (s.#state === 'errored' ? null : s.#state === 'closed' ? 0 : s.#mark - s.#size),
      state: () => s.#state, error: () => s.#error,
    });
    internals.lockSink = (s, writer) => {
      if (writer && s.#writer) throw new TypeErrorHere('the stream is locked to a writer already');
      s.#writer = writer;
    };
  }
}
expose(WritableStream);

class WritableStreamDefaultWriter {
  #stream;
  #sink;
  constructor(stream) {
    if (!internals.isSink(stream)) throw new TypeErrorHere('a writer needs a WritableStream');
    internals.lockSink(stream, this);
    this.#stream = stream;
    this.#sink = internals.sink(stream);
  }
  get closed() { return this.#live().closed(); }
  get ready() { return this.#live().ready(); }
  get desiredSize() { return this.#live().desired(); }
  write(chunk) { return attempted(() => this.#live().write(chunk)); }
  close() { return attempted(() => this.#live().close()); }
  abort(reason = undefined) { return attempted(() => this.#live().abort(reason)); }
  releaseLock() {
    if (!this.#sink) return;
    internals.lockSink(this.#stream, undefined);
    this.#sink = undefined;
  }
  #live() {
    if (!this.#sink) throw new TypeErrorHere('the writer was released');
    return this.#sink;
  }
}
expose(WritableStreamDefaultWriter);

class TransformStreamDefaultController {
  #out;
  #stop;
  #filled;
  constructor(key, out, stop, filled) {
    if (key !== secret) throw new TypeErrorHere('this class has no constructor');
    this.#out = out;
    this.#stop = stop;
    this.#filled = filled;
  }
  get desiredSize() { return internals.desired(this.#out); }
  enqueue(chunk) { internals.enqueue(this.#out, chunk); this.#filled(); }
  error(e) { this.#stop(e); }
  terminate() {
    internals.closeStream(this.#out);
    this.#stop(new TypeErrorHere('the transform was terminated'));
  }
}
expose(TransformStreamDefaultController);

class TransformStream {
  #readable;
  #writable;
  constructor(transformer, writableStrategy, readableStrategy) {
    const t = transformer ?? {};
    // pressure says that the readable side is full; change settles when that turns.
    let pressure = true, change = deferred();
    const press = (v) => {
      if (pressure === v) return;
      pressure = v;
      change.resolve();
      change = deferred();
    };
    this.#readable = new ReadableStream({
      __proto__: null,
      pull() { press(false); return change.promise; },
      cancel: (reason) => { press(false); internals.failSink(this.#writable, reason); return t.cancel?.(reason); },
    }, { __proto__: null, highWaterMark: 0, ...readableStrategy });
    const out = this.#readable, fail = (e) => { internals.failStream(out, e); press(false); };
    const controller = new TransformStreamDefaultController(secret, out, (e) => { fail(e); internals.failSink(this.#writable, e); }, () => { if (!internals.wantsMore(out)) press(true); });
    const guarded = (f) => async (chunk) => {
      try { return await f(chunk); } catch (e) { fail(e); throw e; }
    };
    this.#writable = new WritableStream({
      __proto__: null,
      start: () => t.start?.(controller),
      write: guarded(async (chunk) => {
        while (pressure && internals.stateOf(out) === 'readable') await change.promise;
        if (internals.stateOf(out) === 'errored') throw internals.errorOf(out);
        if (t.transform) await t.transform(chunk, controller);
        else controller.enqueue(chunk);
      }),
      close: guarded(async () => {
        await t.flush?.(controller);
        if (internals.stateOf(out) === 'errored') throw internals.errorOf(out);
        if (internals.stateOf(out) === 'readable') internals.closeStream(out);
      }),
      abort: async (reason) => { await t.cancel?.(reason); fail(reason); },
    }, writableStrategy);
  }
  get readable() { return this.#readable; }
  get writable() { return this.#writable; }
}
expose(TransformStream, 'Read its readable side and return that.');

// pairOf gives a class the two ends of a transform.
class Pair {
  #transform;
  constructor(transformer) { this.#transform = new TransformStream(transformer); }
  get readable() { return this.#transform.readable; }
  get writable() { return this.#transform.writable; }
}
internals.TransformPair = Pair;

expose(class TextEncoderStream extends Pair {
  constructor() {
    let high = ''; // half of a pair that the next chunk may complete
    super({
      __proto__: null,
      transform(chunk, controller) {
        let text = high + `${chunk}`;
        const last = text.charCodeAt(text.length - 1);
        high = last >= 0xd800 && last < 0xdc00 ? text.slice(-1) : '';
        if (high) text = text.slice(0, -1);
        if (text) controller.enqueue(encode(text));
      },
      flush(controller) { if (high) controller.enqueue(encode(high)); },
    });
  }
  get encoding() { return 'utf-8'; }
});

expose(class TextDecoderStream extends Pair {
  #decoder;
  constructor(label, options) {
    const decoder = new TextDecoder(label, options);
    super({
      __proto__: null,
      transform(chunk, controller) { const text = decoder.decode(chunk, { stream: true }); if (text) controller.enqueue(text); },
      flush(controller) { const text = decoder.decode(); if (text) controller.enqueue(text); },
    });
    this.#decoder = decoder;
  }
  get encoding() { return this.#decoder.encoding; }
  get fatal() { return this.#decoder.fatal; }
  get ignoreBOM() { return this.#decoder.ignoreBOM; }
});

// pipe is pipeTo: one chunk at a time, as fast as the slower side.
internals.pipe = async (from, to, options) => {
  if (!internals.isSink(to)) throw new TypeErrorHere('a stream is piped into a WritableStream');
  if (to.locked) throw new TypeErrorHere('the destination is locked to a writer');
  const reader = internals.readerOf(from), sink = internals.sink(to), lock = {};
  internals.lockSink(to, lock);
  let failed, aborted = deferred();
  quiet(aborted.promise);
  const undo = options.signal ? whenAborted(options.signal, () => aborted.reject(reasonOf(options.signal))) : ignore;
  const race = (p) => PromiseHere.race([p, aborted.promise]);
  try {
    for (;;) {
      await race(sink.ready());
      if (sink.state() === 'errored') throw sink.error();
      const { value, done } = await race(internals.readStream(from));
      if (done) break;
      quiet(sink.write(value));
    }
    if (!options.preventClose) await sink.close();
  } catch (e) {
    failed = [e];
    if (internals.stateOf(from) === 'readable' && !options.preventCancel) quiet(internals.stopStream(from, e));
    if (!options.preventAbort) quiet(sink.abort(e));
  }
  undo();
  internals.releaseReader(reader);
  internals.lockSink(to, undefined);
  if (failed) throw failed[0];
};
