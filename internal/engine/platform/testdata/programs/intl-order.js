const out = {};
const words = ['Zoe', 'émile', 'Ana', 'eve', 'Ära', 'ana', 'zebra', 'Zebra', 'äpfel', 'apfel', 'Apfel', 'öl', 'Öl', 'olm', 'ñu', 'nu', 'nz', 'łódź', 'lodz', 'coté', 'côte', 'cote', 'côté', 'straße', 'strasse', 'a b', 'ab', 'a-b', '10', '9', '2', 'résumé', 'resume', 'Resume', 'æ', 'ø', 'å', 'Åse', 'ch', 'cz', 'ı', 'i', 'I', 'İ', '', ' ', '_', '1a', 'Ω', 'я', 'ё', 'е'];
for (const locale of ['en-US', 'de-DE', 'sv-SE', 'fr-FR', 'es-ES', 'da-DK', 'pl-PL', 'cs-CZ', 'tr-TR', 'ru-RU', 'fi-FI']) {
  out[locale] = [...words].sort((a, b) => a.localeCompare(b, locale));
  out[locale + ' collator'] = [...words].sort(new Intl.Collator(locale).compare);
}
out.default = [...words].sort((a, b) => a.localeCompare(b));
out.numeric = ['a10', 'a9', 'a1', 'a01', '2', '10'].sort(new Intl.Collator('en', { numeric: true }).compare);
out.sensitivity = ['base', 'accent', 'case', 'variant'].map((sensitivity) => [['a', 'A'], ['a', 'á'], ['a', 'Á'], ['a', 'b'], ['ß', 'ss']].map(([x, y]) => Math.sign(x.localeCompare(y, 'en', { sensitivity }))));
out.upper = ['i'.toLocaleUpperCase('tr'), 'I'.toLocaleLowerCase('tr'), 'straße'.toLocaleUpperCase('de'), 'ά'.toLocaleUpperCase('el'), 'İ'.toLocaleLowerCase('en').length, 'i'.toLocaleUpperCase(), 'ABC'.toLocaleLowerCase(['en'])];
out.signs = ['a'.localeCompare('b'), 'b'.localeCompare('a'), 'a'.localeCompare('a'), 'a'.localeCompare('A') < 0, 'é'.localeCompare('e\u0301')];
out.options = new Intl.Collator('en').resolvedOptions();
return out;
