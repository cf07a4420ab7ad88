// performance, and the part of crypto that is not subtle.

const { dateNow } = internals.primordials;
const { put, bytes, DOMException } = internals;
const fill = host.native('random.fill'), uuid = host.native('random.uuid');

let origin;
const timeOrigin = () => (origin ??= dateNow() - host.now());

class Performance {
  now() { return host.now(); }
  get timeOrigin() { return timeOrigin(); }
  toJSON() { return { timeOrigin: timeOrigin() }; }
}
internals.name(Performance);
put(globalThis, 'performance', new Performance());

const integers = /^(Big)?(Int|Uint)\d+(Clamped)?Array$/;

class Crypto {
  getRandomValues(view) {
    const name = host.classOf(view) === 'view' ? internals.primordials.viewTag(view) : '';
    if (!internals.primordials.exec(integers, name)) throw new DOMException('getRandomValues fills an array of integers, such as a Uint8Array', 'TypeMismatchError');
    const b = bytes(view);
    if (b.length > 65536) throw new DOMException(`getRandomValues gives at most 65536 bytes at a time, not ${b.length}`, 'QuotaExceededError');
    fill(b);
    return view;
  }
  get subtle() {
    internals.need('subtle');
    return internals.subtle;
  }
  randomUUID() { return uuid(); }
}
internals.name(Crypto);
internals.lazy('subtle', ['CryptoKey', 'SubtleCrypto']);
put(globalThis, 'crypto', new Crypto());
