// Intl.DateTimeFormat, NumberFormat and Collator: right, or an error. The natives know the locales.

const {
  TypeError: TypeErrorHere, RangeError: RangeErrorHere, Map: MapHere, Symbol: SymbolHere, mapGet, mapSet, mapSize, stringify, parse, push, dateValue, dateNow,
  defineProperty, numberToString, bigintToString, toUpperCase, toLowerCase, stringSlice, exec, trim, create,
} = internals.primordials;
const { put } = internals;
const native = (name) => host.native(`intl.${name}`);
const newDate = native('date'), formatDate = native('formatDate'), newNumber = native('number'), formatNumber = native('formatNumber');
const newCollator = native('collator'), compare = native('compare'), fold = native('fold'), tags = native('tags'), canonical = native('canonical');

// localeList is what a script gave as locales, as canonical tags.
function localeList(v) {
  if (v === undefined) return [];
  if (v === null) throw new TypeErrorHere('a locale is text, such as "en-US"');
  const list = typeof v === 'string' ? [v] : typeof v === 'object' ? [...v] : [], out = [];
  for (let n = 0; n < list.length; n++) {
    if (typeof list[n] !== 'string' && typeof list[n] !== 'object') throw new TypeErrorHere('a locale is text, such as "en-US"');
    const tag = canonical(`${list[n]}`);
    if (!out.includes(tag)) push(out, tag);
  }
  return out;
}

// read takes the known options: all as text, but for those of kinds.
function read(options, names, kinds) {
  const out = create(null);
  if (options === undefined) return out;
  if (options === null) throw new TypeErrorHere('the options are an object');
  for (let n = 0; n < names.length; n++) {
    const v = options[names[n]];
    if (v === undefined) continue;
    const kind = kinds[names[n]];
    out[names[n]] = kind === 'boolean' ? !!v : kind === 'number' ? whole(v, names[n]) : `${v}`;
  }
  return out;
}

function whole(v, name) {
  const n = Math.floor(+v);
  if (n !== n || n < 0 || n > 1000) throw new RangeErrorHere(`${name} value is out of range.`);
  return n;
}

// Plans are kept, as formatting in a loop is common.
const plans = new MapHere();
function planOf(make, kind, locales, options) {
  const list = stringify(locales), text = stringify(options), key = kind + list + text;
  let plan = mapGet(plans, key);
  if (plan === undefined) {
    plan = make(list, text);
    if (mapSize(plans) < 200) mapSet(plans, key, plan);
  }
  return plan;
}

const dateNames = ['weekday', 'era', 'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName', 'hour12', 'hourCycle', 'timeZone', 'dateStyle', 'timeStyle', 'calendar', 'numberingSystem'];
const dateKinds = { __proto__: null, hour12: 'boolean', fractionalSecondDigits: 'number' };
const dateFields = ['weekday', 'year', 'month', 'day'], timeFields = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
const any = (o, names) => names.some((name) => o[name] !== undefined);

// dateOptions reads options and adds what is written when none of the fields that matter was asked for.
function dateOptions(options, required, defaults) {
  const o = read(options, dateNames, dateKinds);
  if (o.dateStyle !== undefined || o.timeStyle !== undefined) {
    if (any(o, dateFields) || any(o, timeFields) || o.era !== undefined || o.timeZoneName !== undefined) throw new TypeErrorHere('dateStyle and timeStyle do not go together with single fields such as year or hour');
    if (required === 'date' && o.timeStyle !== undefined || required === 'time' && o.dateStyle !== undefined) throw new TypeErrorHere(`the option ${required === 'date' ? 'timeStyle' : 'dateStyle'} does not go with this method`);
    return o;
  }
  const asked = required !== 'time' && any(o, dateFields) || required !== 'date' && any(o, timeFields);
  if (asked) return o;
  if (defaults !== 'time') o.year = o.month = o.day = 'numeric';
  if (defaults !== 'date') o.hour = o.minute = o.second = 'numeric';
  return o;
}

const textOf = (flat) => { let out = ''; for (let n = 1; n < flat.length; n += 2) out += flat[n]; return out; };
// What is written as one text has plain spaces where ICU has narrow ones, as in V8.
const dateText = (plan, ms) => internals.replace(/\u202f/g, textOf(formatDate(plan, ms)), ' ');
const partsOf = (flat) => { const out = []; for (let n = 0; n < flat.length; n += 2) push(out, { type: flat[n], value: flat[n + 1] }); return out; };

function timeOf(v) {
  if (v === undefined) return dateNow();
  const ms = host.classOf(v) === 'date' ? dateValue(v) : +v;
  if (!(Math.abs(ms) <= 8.64e15)) throw new RangeErrorHere('Invalid time value');
  return Math.trunc(ms);
}

// callable makes of a class a constructor that works without new, as these do.
function callable(Class, name) {
  const made = function (locales, options) { return new Class(locales, options); };
  defineProperty(made, 'name', { __proto__: null, value: name, configurable: true });
  defineProperty(made, 'length', { __proto__: null, value: 0, configurable: true });
  made.prototype = Class.prototype;
  put(Class.prototype, 'constructor', made);
  put(made, 'supportedLocalesOf', function supportedLocalesOf(locales) {
    const there = tags();
    return localeList(locales).filter((tag) => there.includes(tag.split('-u-')[0]));
  });
  defineProperty(Class.prototype, SymbolHere.toStringTag, { __proto__: null, value: `Intl.${name}`, configurable: true });
  put(Intl, name, made);
}

const Intl = {};
defineProperty(Intl, SymbolHere.toStringTag, { __proto__: null, value: 'Intl', configurable: true });
put(Intl, 'getCanonicalLocales', function getCanonicalLocales(locales) { return localeList(locales); });

class DateTimeFormat {
  #plan;
  #format;
  constructor(locales, options) { this.#plan = planOf(newDate, 'd', localeList(locales), dateOptions(options, 'any', 'date')); }
  get format() { return (this.#format ??= (date) => dateText(this.#plan, timeOf(date))); }
  formatToParts(date) { return partsOf(formatDate(this.#plan, timeOf(date))); }
  resolvedOptions() {
    const p = parse(this.#plan), out = { locale: p.Locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: p.TimeZone };
    if (p.Cycle) { out.hourCycle = p.Cycle; out.hour12 = p.Cycle === 'h11' || p.Cycle === 'h12'; }
    for (const name of dateNames) {
      const v = p.Options[name[0].toUpperCase() + name.slice(1)];
      if (v && out[name] === undefined && name !== 'hour12' && name !== 'hourCycle') out[name] = v;
    }
    return out;
  }
}
callable(DateTimeFormat, 'DateTimeFormat');

const numberNames = ['style', 'currency', 'currencyDisplay', 'currencySign', 'unit', 'unitDisplay', 'notation', 'compactDisplay', 'signDisplay', 'roundingMode', 'roundingPriority', 'trailingZeroDisplay', 'numberingSystem',
  'minimumIntegerDigits', 'minimumFractionDigits', 'maximumFractionDigits', 'minimumSignificantDigits', 'maximumSignificantDigits', 'roundingIncrement'];
const numberKinds = { __proto__: null, minimumIntegerDigits: 'number', minimumFractionDigits: 'number', maximumFractionDigits: 'number', minimumSignificantDigits: 'number', maximumSignificantDigits: 'number', roundingIncrement: 'number' };

function numberOptions(options) {
  const o = read(options, numberNames, numberKinds), grouping = options?.useGrouping;
  if (grouping !== undefined) o.useGrouping = grouping === true || grouping === '' ? 'always' : grouping === false || grouping === null ? 'false' : grouping === 'true' || grouping === 'false' ? 'auto' : `${grouping}`;
  if (o.style === 'currency' && o.currency === undefined) throw new TypeErrorHere('Currency code is required with currency style.');
  if (o.currency !== undefined && !exec(/^[A-Za-z]{3}$/, o.currency)) throw new RangeErrorHere(`Invalid currency code : ${o.currency}`);
  if (o.style === 'unit' || o.unit !== undefined) throw new RangeErrorHere('the style unit is not offered here: write the unit behind the number');
  return o;
}

const numeric = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?$/;

// decimalOf is a number as decimal text, exactly as ECMAScript writes it.
function decimalOf(v) {
  if (typeof v === 'object' && v !== null) v = typeof v.valueOf() === 'object' ? `${v}` : v.valueOf();
  if (typeof v === 'bigint') return bigintToString(v);
  if (typeof v === 'string' && exec(numeric, trim(v))) return trim(v);
  const n = +v;
  return n === 0 && 1 / n < 0 ? '-0' : numberToString(n);
}

class NumberFormat {
  #plan;
  #format;
  constructor(locales, options) { this.#plan = planOf(newNumber, 'n', localeList(locales), numberOptions(options)); }
  get format() { return (this.#format ??= (v) => textOf(formatNumber(this.#plan, decimalOf(v)))); }
  formatToParts(v) { return partsOf(formatNumber(this.#plan, decimalOf(v))); }
  resolvedOptions() {
    const p = parse(this.#plan), out = { locale: p.Locale, numberingSystem: 'latn', style: p.Style };
    if (p.Currency) { out.currency = p.Currency; out.currencyDisplay = p.Display; out.currencySign = 'standard'; }
    out.minimumIntegerDigits = p.MinInteger;
    if (p.MaxSignificant) { out.minimumSignificantDigits = p.MinSignificant; out.maximumSignificantDigits = p.MaxSignificant; } else { out.minimumFractionDigits = p.MinFraction; out.maximumFractionDigits = p.MaxFraction; }
    out.useGrouping = p.Grouping === 'false' ? false : p.Grouping;
    out.notation = 'standard';
    out.signDisplay = p.Sign;
    return out;
  }
}
callable(NumberFormat, 'NumberFormat');

const collatorNames = ['usage', 'sensitivity', 'caseFirst', 'collation', 'numeric', 'ignorePunctuation'], collatorKinds = { __proto__: null, numeric: 'boolean', ignorePunctuation: 'boolean' };

const plain = new MapHere(); // collators of one locale, without options

function collatorOf(locales, options) {
  if (options === undefined && typeof locales === 'string' && mapGet(plain, locales)) return mapGet(plain, locales);
  const o = read(options, collatorNames, collatorKinds), made = [planOf(newCollator, 'c', localeList(locales), o), stringify(o)];
  if (options === undefined && typeof locales === 'string') mapSet(plain, locales, made);
  return made;
}

class Collator {
  #tag;
  #options;
  #compare;
  constructor(locales, options) { [this.#tag, this.#options] = collatorOf(locales, options); }
  get compare() { return (this.#compare ??= (a, b) => compare(this.#tag, this.#options, `${a}`, `${b}`)); }
  resolvedOptions() {
    const o = parse(this.#options);
    return { locale: this.#tag, usage: 'sort', sensitivity: o.sensitivity ?? 'variant', ignorePunctuation: false, collation: 'default', numeric: !!o.numeric, caseFirst: 'false' };
  }
}
callable(Collator, 'Collator');
if (internals.primordials.describeProperty(globalThis, 'Intl')?.get) put(globalThis, 'Intl', Intl);

const special = { __proto__: null, tr: 1, az: 1, lt: 1, el: 1 };
internals.intl = {
  __proto__: null,
  date(ms, locales, options, required, defaults) {
    const plan = planOf(newDate, 'd', localeList(locales), dateOptions(options, required, defaults));
    return ms === ms ? dateText(plan, ms) : 'Invalid Date';
  },
  number: (v, locales, options) => textOf(formatNumber(planOf(newNumber, 'n', localeList(locales), numberOptions(options)), decimalOf(v))),
  compare(a, b, locales, options) {
    if (a === b) return 0;
    // Sorting without any choices is what is done most.
    if (locales === undefined && options === undefined) return compare('en-US', '{}', a, b);
    const c = collatorOf(locales, options);
    return compare(c[0], c[1], a, b);
  },
  fold(text, locales, up) {
    const tag = localeList(locales)[0] ?? 'en-US';
    return special[stringSlice(tag, 0, 2)] ? fold(tag, text, up) : up ? toUpperCase(text) : toLowerCase(text);
  },
};
