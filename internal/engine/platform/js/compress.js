// CompressionStream and DecompressionStream. The work is a native's, a bounded piece at a time.

internals.need('writable');
const { Uint8Array: Bytes, TypeError: TypeErrorHere } = internals.primordials;
const { expose, bytes, TransformPair } = internals;
const open = host.native('coder.open'), write = host.native('coder.write'), read = host.native('coder.read'), finish = host.native('coder.finish');

function coder(format, decode) {
  const id = open(`${format}`, decode);
  const drain = (controller) => {
    for (;;) {
      const out = read(id);
      if (out === undefined) return;
      controller.enqueue(new Bytes(out));
    }
  };
  return {
    __proto__: null,
    transform(chunk, controller) {
      const b = bytes(chunk);
      if (b === undefined) throw new TypeErrorHere('a compression stream takes ArrayBuffers and views on them');
      write(id, b);
      drain(controller);
    },
    flush(controller) {
      finish(id);
      drain(controller);
    },
  };
}

expose(class CompressionStream extends TransformPair {
  constructor(format) { super(coder(format, false)); }
}, 'Read its readable side and return that.');
expose(class DecompressionStream extends TransformPair {
  constructor(format) { super(coder(format, true)); }
}, 'Read its readable side and return that.');
