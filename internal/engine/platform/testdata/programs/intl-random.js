// Many combinations of options, the same ones everywhere.
const out = {};
let state = 12345;
const next = (n) => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor(state / 65536) % n; };
const pick = (list) => list[next(list.length)];
const locales = 'en-US en-GB en-CA en-AU en-IN de-DE de-AT de-CH fr-FR fr-CA fr-CH es-ES es-MX it-IT nl-NL pt-BR pt-PT sv-SE da-DK nb-NO fi-FI pl-PL cs-CZ hu-HU ro-RO hr-HR sl-SI et-EE lv-LV lt-LT el-GR tr-TR uk-UA ru-RU ja-JP ko-KR zh-CN zh-TW id-ID vi-VN ca-ES'.split(' ');
const width = [undefined, 'numeric', '2-digit'], text = [undefined, undefined, 'long', 'short', 'narrow'];
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'America/Los_Angeles', 'Australia/Sydney', 'Asia/Kolkata'];
for (const locale of locales) {
  out[locale] = [];
  for (let n = 0; n < 40; n++) {
    const o = { timeZone: pick(zones), weekday: pick(text), year: pick(width), month: pick([undefined, 'numeric', '2-digit', 'long', 'short', 'narrow']), day: pick(width) };
    if (next(2)) { o.hour = pick(width); o.minute = o.hour ? pick(width) : pick(width); o.second = o.minute ? pick(width) : undefined; if (o.hour && next(3) === 0) o.hour12 = !!next(2); }
    if (o.hour && next(4) === 0) o.timeZoneName = pick(['short', 'long', 'shortOffset', 'longOffset']);
    const ms = 946684800000 + next(32768) * 26000000 + next(32768) * 1000;
    let s; try { s = new Intl.DateTimeFormat(locale, o).format(ms); } catch (e) { s = e.name; }
    out[locale].push(JSON.stringify(o) + '|' + s);
  }
}
return out;
