// Errors: the ones that the host made are known by identity, whatever a body
// does to their properties, and look-alikes are not.

const {
  Error: ErrorHere, TypeError: TypeErrorHere, RangeError: RangeErrorHere, SyntaxError: SyntaxErrorHere,
  setPrototypeOf, put, attempt,
} = { ...internals.primordials, put: internals.put, attempt: internals.attempt };

// Brand hides a host error's JSON in a private field of the error object: a field that
// no code of a body can add, read or copy.
class Brand extends (function (o) { return o; }) {
  #json;
  constructor(error, json) {
    super(error);
    this.#json = json;
  }
  static of(o) {
    return typeof o === 'object' && o !== null && #json in o ? o.#json : undefined;
  }
}

const copied = ['code', 'hint', 'details', 'retryable'];
const network = { __proto__: null, egress_denied: 1, invalid_url: 1, fetch_failed: 1, response_too_large: 1 };

// hostError makes the error object of a tool.Error. A failed fetch is a TypeError, as on the web.
// text is its JSON.
internals.hostError = (e, text) => {
  setPrototypeOf(e, null); // what is absent is not to be found on Object.prototype
  const Class = network[e.code] ? TypeErrorHere : ErrorHere;
  const error = new Class(e.message);
  for (let n = 0; n < copied.length; n++) {
    if (e[copied[n]] !== undefined) put(error, copied[n], e[copied[n]]);
  }
  new Brand(error, text);
  return error;
};
internals.brandOf = (e) => Brand.of(e);
// rebrand makes to the host's error that from is.
internals.rebrand = (from, to) => {
  const json = Brand.of(from);
  if (json !== undefined) new Brand(to, json);
  return to;
};

const codes = {
  __proto__: null,
  IndexSizeError: 1, HierarchyRequestError: 3, InvalidCharacterError: 5, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11,
  SyntaxError: 12, InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18,
  NetworkError: 19, AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
};

// DOMException as in Web IDL. Its stack is that of an Error made in the same place.
class DOMException {
  #name;
  #message;
  constructor(message = '', options = 'Error') {
    const error = new ErrorHere();
    this.#message = `${message}`;
    this.#name = typeof options === 'object' && options !== null ? `${options.name ?? 'Error'}` : `${options}`;
    put(this, 'stack', error.stack);
    if (typeof options === 'object' && options !== null && 'cause' in options) put(this, 'cause', options.cause);
  }
  get name() { return this.#name; }
  get message() { return this.#message; }
  get code() { return codes[this.#name] ?? 0; }
}
internals.primordials.setPrototypeOf(DOMException.prototype, ErrorHere.prototype);
internals.primordials.defineProperty(DOMException.prototype, Symbol.toStringTag, { __proto__: null, value: 'DOMException', configurable: true });
put(globalThis, 'DOMException', DOMException);
internals.DOMException = DOMException;

const native = { __proto__: null, Error: ErrorHere, TypeError: TypeErrorHere, RangeError: RangeErrorHere, SyntaxError: SyntaxErrorHere };

// makeError makes the error of that name: ECMAScript's own, else a DOMException.
internals.makeError = (name, message) => {
  const Class = native[name];
  return Class ? new Class(message) : new DOMException(message, name);
};

const text = (v) => attempt(() => `${v}`, '');
const isError = (e) => (typeof e === 'object' || typeof e === 'function') && e !== null && attempt(() => e instanceof ErrorHere, false);

function causes(e) {
  let out = '';
  for (let depth = 0; depth < 3; depth++) {
    e = attempt(() => e.cause, undefined);
    if (!isError(e)) break;
    out += ` (cause: ${text(attempt(() => e.name))}: ${text(attempt(() => e.message))})`;
  }
  return out;
}

// describe tells the host about anything that was thrown.
internals.describe = (e) => {
  if (!isError(e)) return ['', typeof e === 'string' ? e : internals.inspect(e), '', undefined, undefined];
  const name = text(attempt(() => e.name)), message = text(attempt(() => e.message));
  return [name, message + causes(e), text(attempt(() => e.stack)), internals.brandOf(e), undefined];
};
