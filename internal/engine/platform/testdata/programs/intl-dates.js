const out = {};
const locales = 'en-US en en-GB en-CA en-AU en-NZ en-IE en-IN en-ZA de-DE de-AT de-CH fr-FR fr-CA fr-BE fr-CH es-ES es-MX es-AR es-CO es-CL es-US it-IT it-CH nl-NL nl-BE pt-BR pt-PT sv-SE da-DK nb-NO fi-FI is-IS pl-PL cs-CZ sk-SK hu-HU ro-RO hr-HR sl-SI et-EE lv-LV lt-LT el-GR tr-TR uk-UA ru-RU ja-JP ko-KR zh-CN zh-TW zh-HK id-ID vi-VN ms-MY ca-ES'.split(' ');
const options = [
  {}, { dateStyle: 'full' }, { dateStyle: 'long' }, { dateStyle: 'medium' }, { dateStyle: 'short' }, { timeStyle: 'full' }, { timeStyle: 'long' }, { timeStyle: 'medium' }, { timeStyle: 'short' },
  { dateStyle: 'full', timeStyle: 'full' }, { dateStyle: 'long', timeStyle: 'short' }, { dateStyle: 'medium', timeStyle: 'short' }, { dateStyle: 'short', timeStyle: 'short' }, { dateStyle: 'short', timeStyle: 'medium', hour12: false },
  { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, { year: 'numeric', month: 'short', day: 'numeric' }, { year: 'numeric', month: '2-digit', day: '2-digit' }, { month: 'long', year: 'numeric' }, { month: 'long' }, { weekday: 'short' }, { weekday: 'narrow' }, { year: '2-digit', month: 'numeric', day: 'numeric' },
  { hour: '2-digit', minute: '2-digit', hour12: false }, { hour: 'numeric', minute: '2-digit', hour12: true }, { hour: 'numeric' }, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }, { minute: '2-digit', second: '2-digit' },
  { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' }, { year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit' }, { weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' }, { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' },
  { month: 'short', day: 'numeric' }, { month: 'numeric', day: 'numeric' }, { day: 'numeric' }, { year: 'numeric' }, { weekday: 'short', hour: 'numeric' }, { month: 'narrow', day: 'numeric', hour: 'numeric' },
  { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' }, { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' }, { timeZoneName: 'longOffset', hour: 'numeric' }, { timeZoneName: 'shortOffset', hour: 'numeric', minute: 'numeric' }, { timeZoneName: 'long', hour: 'numeric', minute: 'numeric' }, { year: 'numeric', month: 'numeric', day: 'numeric', timeZoneName: 'short' },
  { hour: 'numeric', minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3 }, { minute: 'numeric', second: 'numeric', fractionalSecondDigits: 1 },
];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney', 'Europe/London', 'Europe/Dublin', 'Pacific/Auckland', 'America/Sao_Paulo'];
const dates = [Date.UTC(2024, 0, 15, 0, 5, 9, 7), Date.UTC(2024, 6, 1, 12, 0, 0), Date.UTC(2021, 10, 30, 23, 59, 59, 999), Date.UTC(2025, 2, 9, 7, 30), Date.UTC(2000, 1, 29, 18, 45)];
for (const locale of locales) {
  out[locale] = [];
  options.forEach((o, n) => {
    const f = new Intl.DateTimeFormat(locale, { timeZone: zones[n % zones.length], ...o });
    out[locale].push(JSON.stringify(o) + '|' + dates.map((d) => f.format(d)).join('|'));
  });
  const d = new Date(dates[n = dates.length - 1]);
  var n;
  out[locale].push(d.toLocaleDateString(locale, { timeZone: 'UTC' }), d.toLocaleTimeString(locale, { timeZone: 'UTC' }), d.toLocaleString(locale, { timeZone: 'UTC' }), d.toLocaleDateString(locale, { timeZone: 'UTC', hour: 'numeric' }), d.toLocaleTimeString(locale, { timeZone: 'UTC', month: 'long' }));
}
out.parts = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'long', timeZone: 'America/New_York' }).formatToParts(dates[0]);
out.far = [-62198755200000, 0, -1e12, 4e12, 8.64e15].map((d) => new Date(d).toLocaleDateString('en-US', { timeZone: 'UTC' }));
const name = (f) => { try { return f(); } catch (e) { return e.name; } };
out.errors = [name(() => new Date(NaN).toLocaleString()), name(() => new Intl.DateTimeFormat().format(NaN)), name(() => new Date().toLocaleString('en-US', { timeZone: 'Mars/Base' })), name(() => new Intl.DateTimeFormat('en-US', { dateStyle: 'full', year: 'numeric' })), name(() => new Intl.DateTimeFormat('en-US', { month: 'huge' })), name(() => new Date().toLocaleDateString('en-US', { timeStyle: 'short' })), name(() => new Intl.DateTimeFormat('not a locale')), name(() => new Intl.DateTimeFormat(null))];
out.misc = [Intl.DateTimeFormat('de-DE', { timeZone: 'UTC' }).format(0), Intl.DateTimeFormat.supportedLocalesOf(['de-DE', 'en-US']), Intl.getCanonicalLocales('EN-us'), new Intl.DateTimeFormat('en-US', { timeZone: 'UTC' }).resolvedOptions().timeZone, String(new Intl.DateTimeFormat('en')), String(Intl), [0, 1e12].map(new Intl.DateTimeFormat('en-US', { timeZone: 'UTC' }).format), new Intl.DateTimeFormat('en-US', { hour: 'numeric', timeZone: 'UTC' }).resolvedOptions().hourCycle, new Intl.DateTimeFormat('en-US-u-hc-h23', { hour: 'numeric', minute: 'numeric', timeZone: 'UTC' }).format(0)];
return out;
