// What the classes of the web look like from outside: names, lengths, kinds of members, tags. Left out is where Node is not as the standard.
const out = {};
const node = ['createObjectURL', 'revokeObjectURL', 'attribute', 'isHistoryNavigation', 'isReloadNavigation', 'webkitRelativePath', 'prototype', 'length', 'name', 'from', 'bytes'];
const describe = (o) => {
  const list = [];
  for (const key of Reflect.ownKeys(o)) {
    if (typeof o === 'function' && node.includes(key) || ['attribute', 'isHistoryNavigation', 'isReloadNavigation', 'webkitRelativePath', 'bytes', 'constructor'].includes(key)) continue;
    if (typeof key === 'symbol' && !/^Symbol\(Symbol\./.test(String(key))) continue;
    const p = Object.getOwnPropertyDescriptor(o, key);
    const kind = p.get ? (p.set ? 'get set' : 'get') : typeof p.value === 'function' ? 'function ' + p.value.length : String(p.value);
    list.push(`${String(key)}: ${kind}${p.enumerable ? ' enumerable' : ''}${p.configurable ? '' : ' fixed'}${p.writable === false ? ' constant' : ''}`);
  }
  return list.sort();
};
const classes = { Headers, Request, Response, FormData, Blob, File, URL, URLSearchParams, AbortController, ReadableStream, ReadableStreamDefaultReader, TextEncoder, TextDecoder, EventTarget };
for (const [name, Class] of Object.entries(classes)) {
  const parent = Object.getPrototypeOf(Class), own = Object.getOwnPropertyDescriptor(globalThis, name);
  out[name] = [Class.name, name === 'FormData' ? 0 : Class.length, parent === Function.prototype ? 'none' : parent.name, own?.enumerable, describe(Class)];
  out[name + '.prototype'] = describe(Class.prototype);
}
out.fetch = [fetch.name, fetch.length, Object.prototype.toString.call(fetch)];
return out;
