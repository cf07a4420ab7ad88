const out = {};
const words = ['Zoe', 'émile', 'Ana', 'eve', 'Ära', 'ana', 'zebra', 'Zebra', 'äpfel', 'apfel', 'Apfel', 'öl', 'Öl', 'olm', 'ñu', 'nu', 'nz', 'łódź', 'lodz', 'coté', 'côte', 'cote', 'côté', 'straße', 'strasse', 'a b', 'ab', 'a-b', 'a_b', 'a.b', '10', '9', '2', 'résumé', 'resume', 'Resume', 'æ', 'ø', 'å', 'Åse', 'aa', 'az', 'ch', 'cz', 'ci', 'll', 'lz', 'ı', 'i', 'I', 'İ', '', ' ', '_', '-', '1a', 'š', 's', 'sz', 'ž', 'ź', 'ż', 'č', 'ć', 'c', 'đ', 'd', 'dz', 'dž', 'nj', 'lj', 'ř', 'r', 'ě', 'é', 'e', 'ű', 'ü', 'ú', 'u', 'v', 'w', 'ő', 'õ', 'ğ', 'g', 'gy', 'ş', 'ţ', 'ș', 'ț', 't', 'ý', 'y', 'þ', 'ð', 'x', 'ä', 'k', 'ķ', 'l', 'ļ', 'ņ', 'ch​', '(a', '€', '$', '@', '😀', 'Ω', 'я', 'ё', 'е', '中', '日', 'あ', 'ア', '한', 'אב', 'عر'];
for (const locale of 'en-US en-GB en-CA en-AU en-IN en-ZA de-DE de-AT de-CH fr-FR fr-CH fr-BE es-ES es-MX es-AR it-IT nl-NL pt-BR pt-PT sv-SE is-IS pl-PL cs-CZ sk-SK ro-RO sl-SI et-EE lt-LT tr-TR id-ID vi-VN ms-MY ca-ES'.split(' ')) {
  out[locale] = [...words].sort((a, b) => a.localeCompare(b, locale));
  out[locale + ' collator'] = [...words].sort(new Intl.Collator(locale).compare);
}
out.default = [...words].sort((a, b) => a.localeCompare(b));
out.numeric = ['a10', 'a9', 'a1', 'a01', '2', '10'].sort(new Intl.Collator('en', { numeric: true }).compare);
out.sensitivity = ['base', 'accent', 'variant'].map((sensitivity) => [['a', 'A'], ['a', 'á'], ['a', 'Á'], ['a', 'b'], ['ß', 'ss']].map(([x, y]) => Math.sign(x.localeCompare(y, 'en', { sensitivity }))));
out.upper = ['i'.toLocaleUpperCase('tr'), 'I'.toLocaleLowerCase('tr'), 'straße'.toLocaleUpperCase('de'), 'ά'.toLocaleUpperCase('el'), 'İ'.toLocaleLowerCase('en').length, 'i'.toLocaleUpperCase(), 'ABC'.toLocaleLowerCase(['en'])];
out.signs = ['a'.localeCompare('b'), 'b'.localeCompare('a'), 'a'.localeCompare('a'), 'a'.localeCompare('A') < 0, 'é'.localeCompare('e\u0301')];
out.options = new Intl.Collator('en').resolvedOptions();
return out;
