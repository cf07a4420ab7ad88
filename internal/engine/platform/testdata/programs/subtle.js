const out = {};
const { subtle } = crypto;
const enc = (s) => new TextEncoder().encode(s);
const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, '0')).join('');
const name = async (f) => { try { await f(); return 'no'; } catch (e) { return e.name; } };
out.digest = [];
for (const h of ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512']) out.digest.push(hex(await subtle.digest(h, enc('abc'))));
const raw = new Uint8Array(32).map((_, n) => n);
const hk = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
const mac = await subtle.sign('HMAC', hk, enc('data'));
out.hmac = [hex(mac), await subtle.verify('HMAC', hk, mac, enc('data')), await subtle.verify('HMAC', hk, mac, enc('datb')), hk.type, hk.extractable, hk.usages, hk.algorithm, await subtle.exportKey('jwk', hk), hex(await subtle.exportKey('raw', hk)), String(hk)];
out.aes = [];
for (const [algorithm, bytes] of [['AES-GCM', 16], ['AES-GCM', 32], ['AES-CBC', 32], ['AES-CTR', 16]]) {
  const key = await subtle.importKey('raw', raw.slice(0, bytes), algorithm, true, ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']);
  const how = { name: algorithm, iv: raw.slice(0, algorithm === 'AES-GCM' ? 12 : 16), counter: new Uint8Array(16).fill(255), length: 64, additionalData: enc('more') };
  const c = await subtle.encrypt(how, key, enc('the plain text of more than one block'));
  const wrapped = await subtle.wrapKey('jwk', hk, key, how);
  const again = await subtle.unwrapKey('jwk', wrapped, key, how, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
  out.aes.push([hex(c), new TextDecoder().decode(await subtle.decrypt(how, key, c)), key.algorithm, hex(await subtle.exportKey('raw', again)) === hex(raw), await subtle.exportKey('jwk', key)]);
  out.aes.push(algorithm === 'AES-CTR' ? '' : await name(() => subtle.decrypt({ ...how, iv: new Uint8Array(how.iv.length) }, key, c)));
}
const gcm = await subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt']);
out.tag = hex(await subtle.encrypt({ name: 'AES-GCM', iv: raw.slice(0, 12), tagLength: 96 }, gcm, enc('x'))) + hex(await subtle.encrypt({ name: 'AES-GCM', iv: raw }, gcm, enc('')));
const pw = await subtle.importKey('raw', enc('password'), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
out.pbkdf2 = [];
for (const [hash, iterations, bits] of [['SHA-1', 1, 160], ['SHA-256', 30000, 256], ['SHA-512', 1000, 1000], ['SHA-256', 2, 512]]) out.pbkdf2.push(hex(await subtle.deriveBits({ name: 'PBKDF2', hash, salt: enc('salt'), iterations }, pw, bits)));
const derived = await subtle.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt: enc('s'), iterations: 10 }, pw, { name: 'AES-GCM', length: 256 }, true, ['encrypt']);
out.derived = hex(await subtle.exportKey('raw', derived));
const ikm = await subtle.importKey('raw', raw, 'HKDF', false, ['deriveBits']);
out.hkdf = hex(await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: enc('salt'), info: enc('info') }, ikm, 512));
out.pairs = [];
for (const [algorithm, use] of [[{ name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-256' }], [{ name: 'ECDSA', namedCurve: 'P-521' }, { name: 'ECDSA', hash: 'SHA-512' }], [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, 'RSASSA-PKCS1-v1_5'], [{ name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, { name: 'RSA-PSS', saltLength: 32 }], ['Ed25519', 'Ed25519']]) {
  const pair = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const s = await subtle.sign(use, pair.privateKey, enc('m'));
  const spki = await subtle.exportKey('spki', pair.publicKey), pkcs8 = await subtle.exportKey('pkcs8', pair.privateKey), jwk = await subtle.exportKey('jwk', pair.privateKey);
  const p2 = await subtle.importKey('spki', spki, algorithm, true, ['verify']), k2 = await subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']), k3 = await subtle.importKey('jwk', jwk, algorithm, true, ['sign']);
  out.pairs.push([await subtle.verify(use, pair.publicKey, s, enc('m')), await subtle.verify(use, p2, await subtle.sign(use, k2, enc('m')), enc('m')), await subtle.verify(use, p2, await subtle.sign(use, k3, enc('m')), enc('n')), Object.keys(jwk).sort(), jwk.kty, jwk.alg ?? null, jwk.ext, jwk.key_ops, pair.publicKey.usages, pair.privateKey.usages, pair.publicKey.type, s.byteLength, k2.extractable, pair.publicKey.algorithm.name, pair.publicKey.algorithm.hash ?? null, pair.publicKey.algorithm.namedCurve ?? null, [...(pair.publicKey.algorithm.publicExponent ?? [])], pair.publicKey.extractable]);
}
const jwkEC = { kty: 'EC', crv: 'P-256', x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4', y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM', d: '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE' };
const e1 = await subtle.importKey('jwk', jwkEC, { name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
const { d, ...pub } = jwkEC;
const e2 = await subtle.importKey('jwk', pub, { name: 'ECDH', namedCurve: 'P-256' }, true, []);
out.ecdh = [hex(await subtle.deriveBits({ name: 'ECDH', public: e2 }, e1, 256)), hex(await subtle.exportKey('raw', e2)), hex(await subtle.exportKey('spki', e2)), hex(await subtle.exportKey('pkcs8', e1)).length, await subtle.exportKey('jwk', e1)];
const oaep = await subtle.generateKey({ name: 'RSA-OAEP', hash: 'SHA-1', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, false, ['encrypt', 'decrypt']);
out.oaep = new TextDecoder().decode(await subtle.decrypt({ name: 'RSA-OAEP', label: enc('l') }, oaep.privateKey, await subtle.encrypt({ name: 'RSA-OAEP', label: enc('l') }, oaep.publicKey, enc('hello'))));
const gk = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']), gh = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign']);
out.generate = [gk.algorithm, gk.usages, gh.algorithm];
out.errors = [
  await name(() => subtle.sign('HMAC', gk, enc(''))), (await name(() => subtle.exportKey('raw', gcm))).startsWith('InvalidAccess'), await name(() => subtle.decrypt({ name: 'AES-GCM', iv: raw }, gcm, enc(''))),
  await name(() => subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, true, ['encrypt'])), await name(() => subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, true, [])),
  await name(() => subtle.importKey('raw', raw.slice(0, 5), 'AES-GCM', true, ['encrypt'])), await name(() => subtle.digest('MD5', enc(''))), await name(() => subtle.importKey('raw', raw, 'NOPE', true, ['sign'])),
  await name(() => subtle.importKey('pkcs8', enc('nonsense'), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])), await name(() => subtle.digest('SHA-256', 'text')), await name(() => new CryptoKey()),
  await name(() => subtle.importKey('jwk', { kty: 'oct', k: 'AAAA', ext: false }, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])), await name(() => subtle.generateKey({ name: 'AES-GCM', length: 100 }, true, ['encrypt'])),
  await name(() => subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: enc(''), iterations: 0 }, pw, 256)), await name(() => subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: enc(''), info: enc('') }, ikm, 256 * 255 * 8 + 8)),
];
return out;
