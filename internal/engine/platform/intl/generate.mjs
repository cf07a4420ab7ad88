// Writes locales.txt: a line for each locale with what the tables of the Unicode CLDR, as the ICU in Node holds them, make of dates
// and numbers, for the locales and choices that this package offers. Run it with: node generate.mjs > locales.txt
//
// A pattern is text with fields in braces. Fields: y year, y2 its last two digits, m1 m2 month, mN
// name N of names, d1 d2 day, wN weekday, hC1 hC2 hour in cycle C, n1 n2 minute, s1 s2 second, pN period of the day by the
// hour, zs zl name of the time zone.

const locales = `en-US en en-GB en-CA en-AU en-NZ en-IE en-IN en-ZA de-DE de de-AT de-CH fr-FR fr fr-CA fr-BE fr-CH es-ES es es-MX es-AR es-CO
es-CL es-US it-IT it it-CH nl-NL nl nl-BE pt-BR pt pt-PT sv-SE sv da-DK da nb-NO nb no fi-FI fi is-IS pl-PL pl cs-CZ cs sk-SK hu-HU hu ro-RO ro
hr-HR sl-SI et-EE lv-LV lt-LT el-GR el tr-TR tr uk-UA uk ru-RU ru ja-JP ja ko-KR ko zh-CN zh zh-TW zh-HK id-ID id vi-VN vi ms-MY ca-ES ca`.split(/\s+/);
const zones = `UTC America/New_York America/Chicago America/Denver America/Los_Angeles America/Phoenix America/Anchorage America/Toronto America/Sao_Paulo
Europe/London Europe/Dublin Europe/Paris Europe/Berlin Europe/Madrid Europe/Rome Europe/Amsterdam Europe/Brussels Europe/Vienna Europe/Zurich Europe/Stockholm Europe/Oslo Europe/Copenhagen
Europe/Helsinki Europe/Warsaw Europe/Prague Europe/Budapest Europe/Athens Asia/Tokyo Asia/Shanghai Asia/Hong_Kong Asia/Singapore Asia/Kolkata Australia/Sydney Australia/Melbourne Pacific/Auckland`.split(/\s+/);
const currencies = `USD EUR GBP JPY CHF SEK NOK DKK PLN CZK HUF RON BGN TRY UAH RUB ILS CNY HKD TWD KRW INR IDR MYR SGD THB PHP VND AUD NZD CAD MXN BRL ARS CLP COP PEN ZAR EGP NGN KES AED SAR ISK`.split(/\s+/);

const intern = (list) => { const seen = new Map(); return (v) => { const key = JSON.stringify(v); if (!seen.has(key)) { seen.set(key, list.length); list.push(v); } return seen.get(key); }; };
const cycles = { default: {}, true: { hour12: true }, false: { hour12: false }, h11: { hourCycle: 'h11' }, h12: { hourCycle: 'h12' }, h23: { hourCycle: 'h23' }, h24: { hourCycle: 'h24' } };
const utc = (...a) => new Date(Date.UTC(...a));
const probe = utc(2024, 6, 5, 9, 8, 7);

function describe(locale, options, names) {
  const f = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
  const at = (date, type) => f.formatToParts(date).find((p) => p.type === type)?.value;
  const all = (count, make, type) => Array.from({ length: count }, (_, n) => at(make(n), type));
  const field = {
    year: (v) => (v === '2024' ? 'y' : v === '24' ? 'y2' : undefined),
    month: (v) => (/^\d+$/.test(v) ? `m${v.length}` : `M${names(all(12, (n) => utc(2024, n, 5, 9, 8, 7), 'month'))}`),
    weekday: () => `w${names(all(7, (n) => utc(2024, 6, 7 + n, 9, 8, 7), 'weekday'))}`,
    day: (v) => `d${v.length}`,
    hour: (v) => {
      const midnight = +at(utc(2024, 6, 5, 0, 8, 7), 'hour'), noon = +at(utc(2024, 6, 5, 12, 8, 7), 'hour');
      return `h${midnight === 24 ? 24 : midnight === 12 ? 12 : noon === 12 ? 23 : 11}${v.length}`;
    },
    minute: (v) => `n${v.length}`,
    second: (v) => `s${v.length}`,
    dayPeriod: () => `p${names(all(24, (n) => utc(2024, 6, 5, n, 8, 7), 'dayPeriod'))}`,
    timeZoneName: () => (options.timeStyle === 'full' ? 'zl' : 'zs'),
    literal: (v) => v,
  };
  return f.formatToParts(probe).map((p) => {
    const text = field[p.type]?.(p.value);
    if (text === undefined) throw new Error(`${locale} ${JSON.stringify(options)} has ${p.type} ${p.value}`);
    return p.type === 'literal' ? text : `{${text}}`;
  }).join('');
}

const pick = (names, values) => Object.fromEntries(names.map((n, i) => [n, values[i]]).filter(([, v]) => v !== undefined));
const product = (...lists) => lists.reduce((all, list) => all.flatMap((a) => list.map((v) => [...a, v])), [[]]);
const code = (v) => (v === undefined ? '-' : { numeric: '1', '2-digit': '2', long: 'l', short: 's', narrow: 'n' }[v]);

const zoneStyles = ['short', 'long', 'shortOffset', 'longOffset'];
const zoneCode = (v) => ({ short: 's', long: 'l', shortOffset: 'o', longOffset: 'O' })[v] ?? '-';

function dates(locale, names, patterns) {
  const out = {};
  for (const v of product([undefined, 'long', 'short', 'narrow'], [undefined, 'numeric', '2-digit'], [undefined, 'numeric', '2-digit', 'long', 'short', 'narrow'], [undefined, 'numeric', '2-digit'])) {
    if (v.every((x) => x === undefined)) continue;
    try {
      out[v.map(code).join('')] = patterns(describe(locale, pick(['weekday', 'year', 'month', 'day'], v), names));
    } catch (e) { skipped.push(e.message); }
  }
  return out;
}

function times(locale, names, patterns) {
  const out = {};
  for (const v of product([undefined, 'numeric', '2-digit'], [undefined, 'numeric', '2-digit'], [undefined, 'numeric', '2-digit'], [undefined, ...zoneStyles])) {
    if (v.slice(0, 3).every((x) => x === undefined) || v[0] && !v[1] && v[2]) continue;
    for (const [name, cycle] of Object.entries(v[0] ? cycles : { default: {} })) {
      const key = v.slice(0, 3).map(code).join(''), pattern = patterns(describe(locale, { ...pick(['hour', 'minute', 'second', 'timeZoneName'], v), ...cycle }, names));
      // The other names of zones have patterns of their own only where they differ.
      if (out[`${key}s${name}`] !== pattern || v[3] === undefined) out[key + zoneCode(v[3]) + name] = pattern;
    }
  }
  return out;
}

// weeks are the patterns of a weekday with a time that are not the one glued to the other.
function weeks(locale, names, patterns) {
  const out = {};
  for (const v of product(['long', 'short', 'narrow'], ['numeric', '2-digit'], [undefined, 'numeric', '2-digit'], [undefined, 'numeric', '2-digit'], [undefined, ...zoneStyles])) {
    if (!v[2] && v[3]) continue;
    for (const [name, cycle] of Object.entries(cycles)) {
      const time = { ...pick(['hour', 'minute', 'second', 'timeZoneName'], v.slice(1)), ...cycle };
      const whole = describe(locale, { weekday: v[0], ...time }, names);
      const glued = glues(locale, names).numeric.replace('{D}', describe(locale, { weekday: v[0] }, names)).replace('{T}', describe(locale, time, names));
      if (whole !== glued) out[v.slice(0, 4).map(code).join('') + zoneCode(v[4]) + name] = patterns(whole);
    }
  }
  return out;
}

const glueCache = new Map();

function glue(whole, date, time) {
  if (!whole.includes(date) || !whole.includes(time)) throw new Error(`no glue in ${whole} of ${date} and ${time}`);
  return whole.replace(date, '{D}').replace(time, '{T}');
}

function styles(locale, names, patterns) {
  const out = { date: {}, time: {}, glue: {} }, list = ['full', 'long', 'medium', 'short'];
  for (const s of list) {
    out.date[s] = patterns(describe(locale, { dateStyle: s }, names));
    for (const [name, cycle] of Object.entries(cycles)) out.time[s + name] = patterns(describe(locale, { timeStyle: s, ...cycle }, names));
    out.glue[s] = glue(describe(locale, { dateStyle: s, timeStyle: 'short' }, names), describe(locale, { dateStyle: s }, names), describe(locale, { timeStyle: 'short' }, names));
  }
  return out;
}

function glues(locale, names) {
  if (glueCache.has(locale)) return glueCache.get(locale);
  const time = { hour: 'numeric', minute: '2-digit' }, base = { year: 'numeric', day: 'numeric' };
  const one = (o) => glue(describe(locale, { ...o, ...time }, names), describe(locale, o, names), describe(locale, time, names));
  // A date with the name of a zone, and no time.
  const zoneGlue = (o) => describe(locale, { ...o, timeZoneName: 'short' }, names).replace(describe(locale, o, names), '{D}').replace('{zs}', '{T}');
  const made = { weekdayLong: one({ ...base, weekday: 'long', month: 'long' }), long: one({ ...base, month: 'long' }), short: one({ ...base, month: 'short' }), numeric: one({ ...base, month: 'numeric' }), zone: zoneGlue({ ...base, month: 'numeric' }) };
  glueCache.set(locale, made);
  return made;
}

function offsets(locale) {
  const at = (timeZone, timeZoneName, date) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName, hour: 'numeric' }).formatToParts(date).find((p) => p.type === 'timeZoneName').value;
  const cut = (zone, style) => {
    const m = /^(\D*)(\d+)(\D)(\d\d)(\D*)$/.exec(at(zone, style, probe));
    return [m[1], m[2].length, m[3], m[5]];
  };
  const whole = at('America/New_York', 'shortOffset', probe), [before, width, , behind] = cut('America/St_Johns', 'shortOffset');
  if (whole !== `${before}${'4'.padStart(width, '0')}${behind}`) throw new Error(`short offset ${whole}`);
  return { zero: at('UTC', 'longOffset', probe), shortZero: at('UTC', 'shortOffset', probe), plus: cut('Asia/Kolkata', 'longOffset'), minus: cut('America/St_Johns', 'longOffset'), shortPlus: cut('Asia/Kolkata', 'shortOffset'), shortMinus: cut('America/St_Johns', 'shortOffset') };
}

function zoneNames(locale) {
  const at = (timeZone, timeZoneName, date) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName, hour: 'numeric' }).formatToParts(date).find((p) => p.type === 'timeZoneName').value;
  const winter = utc(2024, 0, 15), summer = utc(2024, 6, 15);
  return Object.fromEntries(zones.map((zone) => {
    const south = /Australia|Auckland/.test(zone), std = south ? summer : winter, dst = south ? winter : summer;
    return [zone, [at(zone, 'short', std), at(zone, 'short', dst), at(zone, 'long', std), at(zone, 'long', dst)]];
  }));
}

const number = (n, v, o) => new Intl.NumberFormat(v, o).formatToParts(n);
const find = (parts, type) => parts.find((p) => p.type === type)?.value;
// around is a pattern: the digits {0}, with what stands before and behind them; signs are {-} {+} {%} and a currency's symbol {$…}.
function around(parts) {
  const digits = (p) => ['integer', 'group', 'decimal', 'fraction', 'nan', 'infinity'].includes(p.type);
  const first = parts.findIndex(digits), last = parts.findLastIndex(digits);
  const text = (list) => list.map((p) => ({ minusSign: '{-}', plusSign: '{+}', percentSign: '{%}', currency: `{$${p.value}}`, literal: p.value })[p.type]).join('');
  return `${text(parts.slice(0, first))}{0}${text(parts.slice(last + 1))}`;
}

function numbers(locale) {
  const plain = number(123456789.5, locale), small = number(1234, locale);
  const out = {
    decimal: find(plain, 'decimal'), group: find(plain, 'group'), sizes: [plain.filter((p) => p.type === 'integer').at(-1).value.length, plain.filter((p) => p.type === 'integer').at(-2).value.length],
    least: find(small, 'group') === undefined ? 2 : 1, minus: find(number(-1, locale), 'minusSign'), plus: find(number(1, locale, { signDisplay: 'always' }), 'plusSign'),
    nan: find(number(NaN, locale), 'nan'), infinity: find(number(Infinity, locale), 'infinity'),
    percent: [around(number(1, locale, { style: 'percent' })), around(number(-1, locale, { style: 'percent' })), around(number(1, locale, { style: 'percent', signDisplay: 'always' }))],
    currency: {}, affixes: [],
  };
  const affixes = intern(out.affixes), dollars = number(1234567.5, locale, { style: 'currency', currency: 'USD', minimumFractionDigits: 1 });
  out.money = [find(dollars, 'decimal'), find(dollars, 'group')];
  for (const currency of currencies) {
    const o = (d, s) => ({ style: 'currency', currency, currencyDisplay: d, ...s });
    const places = new Intl.NumberFormat(locale, o('symbol')).resolvedOptions().maximumFractionDigits;
    const row = [places];
    let spaced = 0; // whether what stands around NaN is another
    for (const d of ['symbol', 'narrowSymbol', 'code']) {
      row.push(affixes(around(number(1, locale, o(d)))), affixes(around(number(-1, locale, o(d)))), affixes(around(number(1, locale, o(d, { signDisplay: 'always' })))));
    }
    for (const d of ['symbol', 'narrowSymbol', 'code']) {
      if (around(number(1, locale, o(d))) !== around(number(NaN, locale, o(d))) || around(number(-1, locale, o(d))) !== around(number(-Infinity, locale, o(d)))) spaced = 1;
    }
    row.push(spaced);
    const big = number(1234567.5, locale, { ...o('symbol'), minimumFractionDigits: 1 });
    if (find(big, 'decimal') !== out.money[0] || find(big, 'group') !== out.money[1]) skipped.push(`${locale} ${currency} has separators of its own`);
    else out.currency[currency] = row;
  }
  return out;
}

const skipped = [], result = {};
for (const locale of locales) {
  const r = new Intl.DateTimeFormat(locale).resolvedOptions();
  if (r.calendar !== 'gregory' || r.numberingSystem !== 'latn') throw new Error(`${locale} is ${JSON.stringify(r)}`);
  const list = [], table = [], names = intern(list), patterns = intern(table);
  try {
    result[locale] = { locale: r.locale, date: dates(locale, names, patterns), time: times(locale, names, patterns), week: weeks(locale, names, patterns), styles: styles(locale, names, patterns), glue: glues(locale, names), offsets: offsets(locale), zones: zoneNames(locale), number: numbers(locale), fraction: find(number(0.5, locale), 'decimal'), names: list, patterns: table };
  } catch (e) { skipped.push(`${locale}: ${e.message}`); }
}
console.error(`${locales.length} locales, skipped: ${[...new Set(skipped)].length}`, skipped.slice(0, 30));
// A line each; a locale whose tables are those of an earlier one only names it.
const seen = new Map();
for (const [tag, entry] of Object.entries(result)) {
  const { locale, ...rest } = entry, text = JSON.stringify(rest);
  if (!seen.has(text)) seen.set(text, tag);
  const twin = seen.get(text);
  console.log(`${tag}\t${locale}\t${twin === tag ? text : `=${twin}`}`);
}
