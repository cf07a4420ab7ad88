// Text and bytes: TextEncoder, TextDecoder, atob, btoa.

const { Uint8Array: Bytes, TypeError: TypeErrorHere, bytesSet, viewLength, viewbyteLength } = internals.primordials;
const { expose, put, bytes } = internals;
const encodeText = host.native('text.encode'), encodeInto = host.native('text.encodeInto');
const decodeText = host.native('text.decode'), labelName = host.native('text.label');
const toBase64 = host.native('base64.encode'), fromBase64 = host.native('base64.decode');

internals.encode = (s) => new Bytes(encodeText(`${s}`));
// decode is UTF-8 as the bodies of responses are decoded: no mark, no error.
internals.decode = (b) => decodeText('utf-8', b, false, false, true)[0];

// concat joins chunks, each a Uint8Array.
internals.concat = (chunks) => {
  if (chunks.length === 1) return chunks[0];
  let size = 0;
  for (let n = 0; n < chunks.length; n++) size += viewbyteLength(chunks[n]);
  const out = new Bytes(size);
  let at = 0;
  for (let n = 0; n < chunks.length; n++) {
    bytesSet(out, chunks[n], at);
    at += viewbyteLength(chunks[n]);
  }
  return out;
};

expose(class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(input = '') { return internals.encode(input); }
  encodeInto(source, destination) {
    if (!(destination instanceof Bytes)) throw new TypeErrorHere('encodeInto writes into a Uint8Array');
    const n = encodeInto(`${source}`, destination);
    return { read: n[0], written: n[1] };
  }
});

const nothing = new Bytes(0);

class TextDecoder {
  #name;
  #fatal;
  #ignoreBOM;
  #rest = nothing; // bytes of a character that has not ended, or what a stateful encoding must see again
  #started = false;
  constructor(label = 'utf-8', options = {}) {
    this.#name = labelName(`${label}`);
    this.#fatal = !!options?.fatal;
    this.#ignoreBOM = !!options?.ignoreBOM;
  }
  get encoding() { return this.#name; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBOM; }
  decode(input = undefined, options = {}) {
    let data = input === undefined ? nothing : bytes(input);
    if (data === undefined) throw new TypeErrorHere('TextDecoder.decode takes an ArrayBuffer or a view on one');
    const stream = !!options?.stream;
    if (viewLength(this.#rest) > 0) data = internals.concat([this.#rest, data]);
    const started = this.#started;
    this.#rest = nothing;
    this.#started = false;
    const decoded = decodeText(this.#name, data, this.#fatal, stream, !started && !this.#ignoreBOM), text = decoded[0];
    if (stream) {
      this.#rest = new Bytes(decoded[1]);
      this.#started = started || text !== '' || viewLength(data) > viewLength(this.#rest);
    }
    return text;
  }
}
expose(TextDecoder);

put(globalThis, 'btoa', function btoa(data) { return toBase64(`${data}`); });
put(globalThis, 'atob', function atob(data) { return fromBase64(`${data}`); });
