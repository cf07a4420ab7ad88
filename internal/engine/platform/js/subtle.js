// crypto.subtle. Keys are bytes in private fields: raw for secrets, PKCS #8 and SPKI for
// pairs. The natives compute and keep nothing; what may be done with a key is decided here.

const { Uint8Array: Bytes, TypeError: TypeErrorHere, stringify, parse, push, toUpperCase, viewLength, viewbuffer, bytesSlice, create } = internals.primordials;
const { expose, bytes, encode, decode, DOMException } = internals;
const native = (name) => host.native(`subtle.${name}`);
const digest = native('digest'), hmac = native('hmac'), hmacVerify = native('hmacVerify'), aes = native('aes'), hkdf = native('hkdf'), pbkdf2 = native('pbkdf2');
const toBase64 = native('toBase64'), fromBase64 = native('fromBase64');
const random = host.native('random.fill'), generate = native('generate'), importDER = native('import'), exportDER = native('export'), sign = native('sign'), verify = native('verify'), oaep = native('oaep'), ecdh = native('ecdh');

const fail = (name, message) => { throw new DOMException(message, name); };
const hashes = { __proto__: null, 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128 };

// The algorithms: what their keys may be used for, as secret, private and public key.
const algorithms = {
  __proto__: null,
  'HMAC': { secret: ['sign', 'verify'], hash: true },
  'AES-GCM': { secret: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], aes: true },
  'AES-CBC': { secret: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], aes: true },
  'AES-CTR': { secret: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], aes: true },
  'PBKDF2': { secret: ['deriveKey', 'deriveBits'], kdf: true },
  'HKDF': { secret: ['deriveKey', 'deriveBits'], kdf: true },
  'ECDSA': { private: ['sign'], public: ['verify'], kind: 'EC' },
  'ECDH': { private: ['deriveKey', 'deriveBits'], public: [], kind: 'EC' },
  'Ed25519': { private: ['sign'], public: ['verify'], kind: 'Ed25519' },
  'RSASSA-PKCS1-v1_5': { private: ['sign'], public: ['verify'], kind: 'RSA', hash: true },
  'RSA-PSS': { private: ['sign'], public: ['verify'], kind: 'RSA', hash: true },
  'RSA-OAEP': { private: ['decrypt', 'unwrapKey'], public: ['encrypt', 'wrapKey'], kind: 'RSA', hash: true },
};
const byUpper = create(null);
for (const name of [...Object.keys(algorithms), ...Object.keys(hashes)]) byUpper[toUpperCase(name)] = name;

// read gives an algorithm as {name, …} with the name as the standard writes it.
function read(algorithm) {
  const o = typeof algorithm === 'string' ? { name: algorithm } : algorithm;
  if (typeof o !== 'object' || o === null || o.name === undefined) throw new TypeErrorHere('an algorithm is a name or an object with a name');
  const name = byUpper[toUpperCase(`${o.name}`)];
  if (name === undefined) fail('NotSupportedError', `the algorithm ${internals.inspectShort(`${o.name}`)} is not supported; there are ${Object.keys(algorithms).join(', ')}`);
  return [name, o];
}

function hashOf(v) {
  if (v === undefined) throw new TypeErrorHere('the algorithm needs a hash, such as SHA-256');
  const [name] = read(v);
  if (!hashes[name]) fail('NotSupportedError', `${name} is not a hash`);
  return name;
}

function data(v, what) {
  const b = bytes(v);
  if (b === undefined) throw new TypeErrorHere(`${what} must be an ArrayBuffer or a view on one; for text, new TextEncoder().encode(text)`);
  return b;
}
const integer = (v, what) => {
  const n = Math.trunc(+v);
  if (!(n >= 0 && n <= 0xffffffff)) throw new TypeErrorHere(`${what} must be a whole number that is not negative`);
  return n;
};

const secretKey = {};
let material;

class CryptoKey {
  #type;
  #extractable;
  #algorithm;
  #usages;
  #data;
  constructor(key, type, algorithm, data, extractable, usages) {
    if (key !== secretKey) throw new TypeErrorHere('a CryptoKey is made by crypto.subtle.importKey or generateKey');
    this.#type = type;
    this.#algorithm = algorithm;
    this.#data = data;
    this.#extractable = extractable;
    this.#usages = usages;
  }
  get type() { return this.#type; }
  get extractable() { return this.#extractable; }
  get algorithm() { return this.#algorithm.shown ??= internals.clone(this.#algorithm.public); }
  get usages() { return [...this.#usages]; }
  static {
    // material is what the natives need: {type, name, hash, curve, data}. use is what it is for.
    material = (key, use, name) => {
      if (!(typeof key === 'object' && key !== null && #data in key)) throw new TypeErrorHere('the key must be a CryptoKey');
      const a = key.#algorithm;
      if (name !== undefined && a.name !== name) fail('InvalidAccessError', `the key is one for ${a.name}, not for ${name}`);
      if (use !== undefined && !key.#usages.includes(use)) fail('InvalidAccessError', `the key may not be used for ${use}`);
      return { __proto__: null, type: key.#type, name: a.name, hash: a.hash, curve: a.curve, data: key.#data, extractable: key.#extractable, usages: key.#usages };
    };
    push(internals.cloners, (v) => (#data in v ? new CryptoKey(secretKey, v.#type, v.#algorithm, v.#data, v.#extractable, v.#usages) : undefined));
  }
}
expose(CryptoKey, 'Return what crypto.subtle.exportKey gives.');

const order = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];

function usagesOf(list, allowed, some) {
  const given = [...list].map((u) => `${u}`);
  for (const u of given) {
    if (!order.includes(u)) throw new TypeErrorHere(`${internals.inspectShort(u)} is not a use of a key`);
    if (!allowed.includes(u)) fail('SyntaxError', `a key of this algorithm cannot be used for ${u}`);
  }
  if (some && given.length === 0) fail('SyntaxError', 'a key without any usages is of no use: name them in the last argument');
  return order.filter((u) => given.includes(u));
}

// make makes a key. shown is its algorithm as scripts see it.
function make(type, name, shown, bytes, extractable, usages) {
  const internal = { __proto__: null, name, hash: shown.hash?.name, curve: shown.namedCurve, public: { name, ...shown } };
  return new CryptoKey(secretKey, type, internal, bytes, extractable, usages);
}

function importSecret(name, o, raw, extractable, usages) {
  const spec = algorithms[name], uses = usagesOf(usages, spec.secret, true), size = viewLength(raw) * 8;
  if (spec.aes && size !== 128 && size !== 192 && size !== 256) fail('DataError', `an AES key has 128, 192 or 256 bits, not ${size}`);
  if (spec.kdf && extractable) fail('SyntaxError', `a ${name} key cannot be extractable`);
  if (name === 'HMAC' && size === 0) fail('DataError', 'an HMAC key cannot be empty');
  const shown = name === 'HMAC' ? { hash: { name: hashOf(o.hash) }, length: size } : spec.aes ? { length: size } : {};
  return make('secret', name, shown, raw, extractable, uses);
}

function importPair(name, o, format, keyData, extractable, usages) {
  const spec = algorithms[name], jwk = format === 'jwk';
  if (spec.kind === 'EC' && o.namedCurve === undefined) throw new TypeErrorHere(`${name} needs a namedCurve, such as P-256`);
  const input = jwk ? encode(stringify(keyData)) : data(keyData, 'the key');
  const [type, der, a, b] = importDER(format, spec.kind, o.namedCurve === undefined ? '' : `${o.namedCurve}`, input);
  const uses = usagesOf(usages, spec[type], type === 'private');
  return make(type, name, shownOf(name, o, a, b), new Bytes(der), extractable, uses);
}

// shownOf is the algorithm of a key of a pair; a is the curve or the modulus length, b the exponent.
function shownOf(name, o, a, b) {
  switch (algorithms[name].kind) {
    case 'EC': return { namedCurve: a };
    case 'RSA': return { modulusLength: a, publicExponent: new Bytes(b), hash: { name: hashOf(o.hash) } };
  }
  return {};
}

const jwkNames = { __proto__: null, 'Ed25519': () => 'Ed25519', 'HMAC': (h) => `HS${h.slice(4)}`, 'AES-GCM': (_, n) => `A${n * 8}GCM`, 'AES-CBC': (_, n) => `A${n * 8}CBC`, 'AES-CTR': (_, n) => `A${n * 8}CTR`, 'RSASSA-PKCS1-v1_5': (h) => `RS${h === 'SHA-1' ? 1 : h.slice(4)}`, 'RSA-PSS': (h) => `PS${h === 'SHA-1' ? 1 : h.slice(4)}`, 'RSA-OAEP': (h) => (h === 'SHA-1' ? 'RSA-OAEP' : `RSA-OAEP-${h.slice(4)}`) };

function fromJWK(name, jwk, extractable, usages) {
  if (typeof jwk !== 'object' || jwk === null) throw new TypeErrorHere('a key in the format jwk is an object');
  if (jwk.ext === false && extractable) fail('DataError', 'the key says that it is not extractable');
  if (jwk.key_ops !== undefined) for (const u of usages) if (!jwk.key_ops.includes(u)) fail('DataError', `the key's key_ops do not include ${u}`);
  if (!algorithms[name].secret) return undefined;
  if (jwk.kty !== 'oct' || typeof jwk.k !== 'string') fail('DataError', 'a secret key as jwk has kty "oct" and its bytes in k');
  return new Bytes(fromBase64(jwk.k));
}

function importKey(format, keyData, algorithm, extractable, usages) {
  const [name, o] = read(algorithm), spec = algorithms[name];
  if (!spec) fail('NotSupportedError', `there are no keys for ${name}`);
  extractable = !!extractable;
  const raw = format === 'jwk' ? fromJWK(name, keyData, extractable, usages) : undefined;
  if (!spec.secret) return importPair(name, o, format, keyData, extractable, usages);
  if (format !== 'raw' && format !== 'jwk') fail('NotSupportedError', `a ${name} key is imported as raw or jwk, not as ${format}`);
  return importSecret(name, o, raw ?? bytesSlice(data(keyData, 'the key')), extractable, usages);
}

function exportKey(format, key) {
  const k = material(key);
  if (!k.extractable) fail('InvalidAccessError', 'the key is not extractable');
  if (algorithms[k.name].kdf) fail('NotSupportedError', `a ${k.name} key cannot be exported`);
  if (format !== 'jwk') {
    if (k.type === 'secret') {
      if (format !== 'raw') fail('NotSupportedError', `a secret key is exported as raw or jwk, not as ${format}`);
      return viewbuffer(bytesSlice(k.data));
    }
    if ((format === 'pkcs8') !== (k.type === 'private')) fail('InvalidAccessError', `a ${k.type} key cannot be exported as ${format}`);
    return exportDER(format, algorithms[k.name].kind, k.data);
  }
  const jwk = k.type === 'secret' ? { kty: 'oct', k: toBase64(k.data) } : parse(decode(new Bytes(exportDER('jwk', algorithms[k.name].kind, k.data))));
  jwk.key_ops = [...k.usages];
  jwk.ext = true;
  const alg = jwkNames[k.name]?.(k.hash ?? '', viewLength(k.data));
  if (alg) jwk.alg = alg;
  return jwk;
}

function generateSecret(name, o, extractable, usages) {
  const spec = algorithms[name];
  let bits = o.length === undefined ? undefined : integer(o.length, 'length');
  if (spec.kdf) fail('NotSupportedError', `a ${name} key is imported, not generated`);
  if (name === 'HMAC') bits ??= hashes[hashOf(o.hash)] * 8;
  if (spec.aes && bits !== 128 && bits !== 192 && bits !== 256) fail('OperationError', 'the length of an AES key is 128, 192 or 256 bits');
  if (bits === 0 || bits % 8 !== 0 || bits > 65536) fail('OperationError', 'the length of the key must be whole bytes, and at most 65536 bits');
  const raw = new Bytes(bits / 8);
  random(raw);
  return importSecret(name, o, raw, extractable, usages);
}

function generateKey(algorithm, extractable, usages) {
  const [name, o] = read(algorithm), spec = algorithms[name];
  if (!spec) fail('NotSupportedError', `there are no keys for ${name}`);
  if (spec.secret) return generateSecret(name, o, !!extractable, usages);
  const all = usagesOf(usages, [...spec.private, ...spec.public], false), forPrivate = all.filter((u) => spec.private.includes(u));
  if (forPrivate.length === 0) fail('SyntaxError', 'the private key would be of no use: name usages in the last argument');
  const exponent = spec.kind === 'RSA' ? data(o.publicExponent, 'publicExponent') : undefined;
  const [pkcs8, spki, a, b] = generate(spec.kind, spec.kind === 'EC' ? `${o.namedCurve}` : integer(o.modulusLength ?? 0, 'modulusLength'), exponent);
  const shown = shownOf(name, o, a, b);
  return {
    publicKey: make('public', name, shown, new Bytes(spki), true, all.filter((u) => spec.public.includes(u))),
    privateKey: make('private', name, shown, new Bytes(pkcs8), !!extractable, forPrivate),
  };
}

// signing gives the hash and the salt length of a signature.
function signing(name, o, k) {
  if (name === 'ECDSA') return [hashOf(o.hash), 0];
  if (name === 'RSA-PSS') return [k.hash, integer(o.saltLength, 'saltLength')];
  return [k.hash ?? '', 0];
}

function signData(algorithm, key, input) {
  const [name, o] = read(algorithm), k = material(key, 'sign', name), b = data(input, 'the data');
  if (name === 'HMAC') return hmac(k.hash, k.data, b);
  const [hash, salt] = signing(name, o, k);
  return sign(name, hash, k.data, b, salt);
}

function verifyData(algorithm, key, signature, input) {
  const [name, o] = read(algorithm), k = material(key, 'verify', name), s = data(signature, 'the signature'), b = data(input, 'the data');
  if (name === 'HMAC') return hmacVerify(k.hash, k.data, s, b);
  const [hash, salt] = signing(name, o, k);
  return verify(name, hash, k.data, s, b, salt);
}

function cipher(encrypting, use, algorithm, key, input) {
  const [name, o] = read(algorithm), k = material(key, use, name), b = data(input, 'the data');
  switch (name) {
    case 'RSA-OAEP': return oaep(encrypting, k.hash, k.data, b, o.label === undefined ? undefined : data(o.label, 'label'));
    case 'AES-GCM': return aes(name, encrypting, k.data, b, data(o.iv, 'iv'), o.tagLength === undefined ? 128 : integer(o.tagLength, 'tagLength'), o.additionalData === undefined ? undefined : data(o.additionalData, 'additionalData'));
    case 'AES-CBC': return aes(name, encrypting, k.data, b, data(o.iv, 'iv'), 0);
    case 'AES-CTR': return aes(name, encrypting, k.data, b, data(o.counter, 'counter'), integer(o.length, 'length'));
  }
  return fail('NotSupportedError', `${name} does not encrypt`);
}

// stretch is PBKDF2 in pieces, so that the call's deadline holds for any number of iterations.
function stretch(hash, password, salt, iterations, size) {
  const out = new Bytes(size), width = viewLength(new Bytes(digest(hash, new Bytes(0))));
  for (let block = 1, at = 0; at < size; block++, at += width) {
    let state = new Bytes(0), left = iterations;
    while (left > 0) {
      const now = left < 20000 ? left : 20000;
      state = new Bytes(pbkdf2(hash, password, salt, block, now, state));
      left -= now;
    }
    const part = internals.primordials.bytesPart(state, width, width + (size - at < width ? size - at : width));
    internals.primordials.bytesSet(out, part, at);
  }
  return viewbuffer(out);
}

function derive(algorithm, key, use, bits) {
  const [name, o] = read(algorithm), k = material(key, use, name);
  if (name === 'ECDH') {
    const other = material(o.public, undefined, 'ECDH');
    if (other.type !== 'public' || other.curve !== k.curve) fail('InvalidAccessError', 'public must be a public key on the same curve');
    const shared = ecdh(k.data, other.data), size = shared.byteLength * 8;
    if (bits === null || bits === undefined) return shared;
    if (bits > size || bits % 8 !== 0) fail('OperationError', `this curve gives ${size} bits, in whole bytes`);
    return internals.primordials.bufferSlice(shared, 0, bits / 8);
  }
  if (bits === null || bits === undefined || bits % 8 !== 0) fail('OperationError', 'the length must be a multiple of 8 bits');
  if (bits > 1 << 20) fail('OperationError', 'at most 1048576 bits can be derived at a time');
  const salt = data(o.salt, 'salt');
  if (name === 'HKDF') return hkdf(hashOf(o.hash), k.data, salt, data(o.info, 'info'), bits / 8);
  if (name !== 'PBKDF2') fail('NotSupportedError', `${name} does not derive keys`);
  const iterations = integer(o.iterations, 'iterations');
  if (iterations === 0) fail('OperationError', 'iterations must be at least 1');
  return stretch(hashOf(o.hash), k.data, salt, iterations, bits / 8);
}

function lengthOf(algorithm) {
  const [name, o] = read(algorithm), spec = algorithms[name];
  if (spec?.aes) {
    if (o.length !== 128 && o.length !== 192 && o.length !== 256) fail('OperationError', 'the length of an AES key is 128, 192 or 256 bits');
    return o.length;
  }
  if (name === 'HMAC') return o.length === undefined ? hashes[hashOf(o.hash)] * 8 : integer(o.length, 'length');
  if (spec?.kdf) return null;
  return fail('NotSupportedError', `${name} keys cannot be derived`);
}

async function later(f) { return f(); }

class SubtleCrypto {
  constructor(key) { if (key !== secretKey) throw new TypeErrorHere('use crypto.subtle'); }
  digest(algorithm, input) { return later(() => digest(hashOf(algorithm), data(input, 'the data'))); }
  importKey(format, keyData, algorithm, extractable, usages) { return later(() => importKey(`${format}`, keyData, algorithm, extractable, usages)); }
  exportKey(format, key) { return later(() => exportKey(`${format}`, key)); }
  generateKey(algorithm, extractable, usages) { return later(() => generateKey(algorithm, extractable, usages)); }
  sign(algorithm, key, input) { return later(() => signData(algorithm, key, input)); }
  verify(algorithm, key, signature, input) { return later(() => verifyData(algorithm, key, signature, input)); }
  encrypt(algorithm, key, input) { return later(() => cipher(true, 'encrypt', algorithm, key, input)); }
  decrypt(algorithm, key, input) { return later(() => cipher(false, 'decrypt', algorithm, key, input)); }
  deriveBits(algorithm, key, length = null) { return later(() => derive(algorithm, key, 'deriveBits', length)); }
  deriveKey(algorithm, key, derived, extractable, usages) {
    return later(() => importKey('raw', derive(algorithm, key, 'deriveKey', lengthOf(derived)), derived, extractable, usages));
  }
  wrapKey(format, key, wrapping, algorithm) {
    return later(() => {
      const plain = exportKey(`${format}`, key);
      return cipher(true, 'wrapKey', algorithm, wrapping, format === 'jwk' ? encode(stringify(plain)) : plain);
    });
  }
  unwrapKey(format, wrapped, unwrapping, algorithm, keyAlgorithm, extractable, usages) {
    return later(() => {
      const plain = cipher(false, 'unwrapKey', algorithm, unwrapping, wrapped);
      return importKey(`${format}`, format === 'jwk' ? parse(decode(new Bytes(plain))) : plain, keyAlgorithm, extractable, usages);
    });
  }
}
expose(SubtleCrypto);
internals.subtle = new SubtleCrypto(secretKey);
