const out = {};
const base = args.base;
const name = async (f) => { try { const v = await f(); return ['gave', v === undefined ? 'undefined' : v]; } catch (e) { return e?.name ?? String(e); } };
const show = (r) => [r.status, r.ok, r.statusText, r.type, r.url, r.redirected, r.bodyUsed, r.body === null, [...r.headers]];
const bytes = async (r) => [...new Uint8Array(await r.arrayBuffer())];
out.inits = [];
for (const init of [undefined, null, {}, { status: 404 }, { status: '201', statusText: 'Made' }, { status: 200.9 }, { status: 199 }, { status: 600 }, { status: 0 }, { status: 65736 }, { status: 'x' }, { status: null }, { statusText: 'a\nb' }, { statusText: 'é' }, { statusText: '\u0100' }, { statusText: 5 }, { statusText: '' }, 5, 'x', () => {}, { headers: 'x' }, { headers: [['a', 'b']] }]) out.inits.push(await name(() => show(new Response('x', init))));
out.nulls = [];
for (const status of [101, 103, 204, 205, 304, 200, 302]) out.nulls.push([await name(() => show(new Response(null, { status }))), await name(() => show(new Response(undefined, { status }))), await name(() => show(new Response('', { status })))]);
out.types = [];
const kinds = () => ['', 'text', 5, true, new String('s'), new URLSearchParams('a=b'), new Blob(['b']), new Blob(['b'], { type: 'X/Y' }), new ArrayBuffer(2), new Uint8Array([1, 2]), new Uint16Array([258]), new DataView(new ArrayBuffer(3), 1), new ReadableStream({ start(c) { c.enqueue(new Uint8Array([7])); c.close(); } }), { toString() { return 'own'; } }, new Date(NaN)];
for (const body of kinds()) { const r = new Response(body); out.types.push([r.headers.get('content-type'), r.body instanceof ReadableStream, await bytes(r)]); }
out.given = [];
for (const body of kinds()) { const r = new Response(body, { headers: { 'Content-Type': 'my/own' } }); out.given.push(r.headers.get('content-type')); }
out.formType = /^multipart\/form-data; boundary=\S+$/.test(new Response(new FormData()).headers.get('content-type'));
out.json = [];
for (const [v, init] of [[{ a: 1 }], [null], ['s'], [undefined], [() => {}], [Symbol('s')], [[1, , 2]], [5, { status: 201, statusText: 'S', headers: { a: 'b' } }], [5, { headers: { 'Content-Type': 'x/y' } }], [5, { status: 204 }], [1, 5], [{ toJSON() { throw new RangeError('r'); } }]]) out.json.push(await name(async () => { const r = Response.json(v, init); return [show(r), await r.text()]; }));
out.redirect = [];
for (const a of [['http://a/b'], ['http://a/b', 301], ['http://a/b', 308], ['http://a/b', '303'], ['http://a/b', 200], ['http://a/b', 304], ['http://a/b', null], ['http://a/ é'], [new URL('http://u/')]]) out.redirect.push(await name(() => show(Response.redirect(...a))));
out.redirectLocked = [await name(() => Response.redirect('http://a/').headers.set('x', 'y')), await name(() => Response.redirect())];
out.error = [show(Response.error()), await name(() => Response.error().clone().type), await name(() => Response.error().text())];
out.used = [];
for (const m of ['text', 'json', 'arrayBuffer', 'blob', 'formData']) {
  const r = new Response('a=1', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }), p = r[m]();
  out.used.push([m, p instanceof Promise, r.bodyUsed, (await name(() => p))[0], await name(() => r.text()), await name(() => r.clone()), r.body?.locked, await name(() => r.body.getReader() && 'reader')]);
}
out.empty = [];
for (const make of [() => new Response(), () => new Response(null), () => new Response('')]) {
  for (const m of ['text', 'json', 'arrayBuffer', 'blob', 'formData']) { const r = make(); out.empty.push([m, (await name(() => r[m]()))[0], r.bodyUsed, (await name(() => r[m]()))[0]]); }
}
out.text = [];
for (const b of [[0xef, 0xbb, 0xbf, 0x61], [0xff, 0xfe, 0x61], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98, 0x80], [0], [0xef, 0xbb, 0xbf]]) out.text.push(await new Response(new Uint8Array(b)).text());
out.surrogates = [await bytes(new Response('\ud800x')), await bytes(new Response('\ufeffy'))];
out.badJSON = [];
for (const t of ['', ' ', '{', '{"a":1}x', '\ufeff{"a":1}', '[1,]', 'nul', '"\ud800"', '1e999', '-0', '{"__proto__":{"a":1}}', '"\u2028"', '\u00a01']) out.badJSON.push(await name(async () => { const v = await new Response(t).json(); return [typeof v, JSON.stringify(v), Object.is(v, -0), v && Object.keys(v)]; }));
const src = new Uint8Array([1, 2, 3]), copied = new Response(src), cloned = copied.clone(); src[0] = 9;
const first = await copied.arrayBuffer(); new Uint8Array(first)[1] = 9; out.copies = [[...new Uint8Array(first)], await bytes(cloned)];
const blob = new Blob(['abc']), chunk = (await blob.stream().getReader().read()).value; chunk[0] = 90; out.blobCopy = await blob.text();
const one = new Response('abc'), two = one.clone(); (await one.body.getReader().read()).value[0] = 90; out.cloneCopy = await two.text();
const part = new Uint8Array([97, 98]), streamed = new Response(new ReadableStream({ start(c) { c.enqueue(part); c.close(); } })), asBlob = await streamed.blob(); part[0] = 90; out.streamBlob = await asBlob.text();
const s1 = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([97, 98])); c.enqueue(new Uint8Array([99])); c.close(); } })), s2 = s1.clone(), s3 = s2.clone();
out.streamClones = [await s3.text(), await s1.text(), await s2.text(), s1.bodyUsed];
const t1 = new Response('tee'), branches = t1.body.tee(); out.tee = [t1.bodyUsed, t1.body.locked, await name(() => t1.text()), await name(() => t1.clone()), await new Response(branches[0]).text(), await new Response(branches[1]).text()];
const l = new Response('lock'), reader = l.body.getReader(); out.lock = [l.bodyUsed, await name(() => l.text()), l.bodyUsed, l.body === l.body]; reader.releaseLock(); out.lock.push(await l.text(), l.bodyUsed);
const d = new Response('disturbed'), dr = d.body.getReader(); await dr.read(); dr.releaseLock(); out.disturbed = [d.bodyUsed, await name(() => d.text()), await name(() => new Response(d.body))];
const cancelled = new Response('c'); await cancelled.body.cancel(); out.cancelled = [cancelled.bodyUsed, await name(() => cancelled.text())];
const lockedStream = new ReadableStream(); lockedStream.getReader(); out.lockedStream = await name(() => new Response(lockedStream));
out.badChunks = [];
for (const c of ['text', 5, null, {}]) out.badChunks.push(await name(() => new Response(new ReadableStream({ start(k) { k.enqueue(c); k.close(); } })).text()));
out.streamError = [await name(() => new Response(new ReadableStream({ start(c) { c.error(new RangeError('r')); } })).text()), await name(() => new Response(new ReadableStream({ pull() { throw new SyntaxError('s'); } })).json())];
const big = await fetch(base + '/big'), bigClone = big.clone();
out.fetched = [big.status, big.type, big.url === base + '/big', bigClone.url === big.url, bigClone.type, bigClone.redirected, (await bigClone.text()).length, big.bodyUsed, (await big.text()).length, big.bodyUsed, await name(() => big.clone())];
const none = await fetch(base + '/none'); out.none = [none.status, none.body, none.bodyUsed, await none.text(), none.bodyUsed, await name(() => none.json()), (await none.clone().arrayBuffer()).byteLength];
const head = await fetch(base + '/echo', { method: 'HEAD' }); out.head = [head.status, await head.text(), head.bodyUsed, await name(() => head.json())];
const hash = await fetch(base + '/echo?q#part'); out.hash = [hash.url === base + '/echo?q', (await hash.json()).query];
const red = await fetch(base + '/redirect'); out.redirected = [red.redirected, red.url === base + '/echo?from=redirect', red.status, red.clone().redirected];
let n = 0; for await (const c of new Response('iterate').body) n += c.length; out.iterate = n;
const early = await fetch(base + '/big'); for await (const c of early.body) break; out.early = [early.bodyUsed, early.body.locked, await name(() => early.text())];
const values = new Response('v').body.values({ preventCancel: true }); await values.next(); await values.return(); out.values = [(await values.next()).done];
out.brand = []; for (const k of ['text', 'json', 'arrayBuffer', 'clone']) out.brand.push(await name(() => Response.prototype[k].call({})), await name(() => Response.prototype[k].call(new Request(base))));
for (const k of ['status', 'headers', 'body', 'bodyUsed', 'url']) out.brand.push(await name(() => Reflect.get(Response.prototype, k)));
out.mixed = [await name(() => new Request(base, { method: 'POST', body: new Response('x') }).text()), await name(() => Response('x'))];
class Mine extends Response { get status() { return 7; } async text() { return 'mine ' + await super.text(); } }
const m = new Mine('b'); out.mine = [m.status, m.ok, await m.text(), m instanceof Response, new Mine('c').clone() instanceof Mine];
out.form = [];
for (const [type, body] of [['application/x-www-form-urlencoded', 'a=1&a=2&b=%zz+'], ['application/x-www-form-urlencoded;charset=utf-8', 'é=x'], ['text/plain', 'a=1'], ['multipart/form-data', 'x'], ['multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nv\r\n--b--\r\n'], ['multipart/form-data; boundary=b', 'garbage'], ['multipart/form-data; boundary=b', ''], ['multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\ncut']]) out.form.push(await name(async () => [...await new Response(body, { headers: { 'content-type': type } }).formData()]));
const keyed = new Response('x'); out.blobType = [(await keyed.blob()).type, (await new Response('x', { headers: { 'content-type': 'A/B;C=D' } }).blob()).type, (await new Response(new Uint8Array(1)).blob()).type];
return out;
