// What ECMAScript leaves to Intl: the methods that take a locale. Intl itself is made when it is first asked for.

const { uncurry, dateValue, TypeError: TypeErrorHere } = internals.primordials;
const { put } = internals;
const upper = uncurry(String.prototype.toUpperCase), lower = uncurry(String.prototype.toLowerCase);
const intl = () => (internals.need('intl'), internals.intl);

const method = (target, f) => put(target, f.name, f);
method(Date.prototype, function toLocaleString(locales, options) { return intl().date(dateValue(this), locales, options, 'any', 'all'); });
method(Date.prototype, function toLocaleDateString(locales, options) { return intl().date(dateValue(this), locales, options, 'date', 'date'); });
method(Date.prototype, function toLocaleTimeString(locales, options) { return intl().date(dateValue(this), locales, options, 'time', 'time'); });

const numberValue = uncurry(Number.prototype.valueOf), bigintValue = uncurry(BigInt.prototype.valueOf);
method(Number.prototype, function toLocaleString(locales, options) { return intl().number(numberValue(this), locales, options); });
method(BigInt.prototype, function toLocaleString(locales, options) { return intl().number(bigintValue(this), locales, options); });

const textOf = (v, name) => {
  if (v === undefined || v === null) throw new TypeErrorHere(`String.prototype.${name} needs text`);
  return `${v}`;
};
method(String.prototype, function localeCompare(that, locales, options) { return intl().compare(textOf(this, 'localeCompare'), `${that}`, locales, options); });
// Only a few languages have rules of their own for case.
const fold = (text, locales, up) => (locales === undefined ? (up ? upper(text) : lower(text)) : intl().fold(text, locales, up));
method(String.prototype, function toLocaleUpperCase(locales) { return fold(textOf(this, 'toLocaleUpperCase'), locales, true); });
method(String.prototype, function toLocaleLowerCase(locales) { return fold(textOf(this, 'toLocaleLowerCase'), locales, false); });

internals.lazy('intl', ['Intl']);
