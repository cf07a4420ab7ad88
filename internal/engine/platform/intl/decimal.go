package intl

import (
	"strconv"
	"strings"
)

// decimal is 0.DIGITS × 10^exponent, exactly: binary fractions would round wrongly.
type decimal struct {
	negative bool
	digits   string // without zeros at either end; empty for zero
	exponent int
	special  string // NaN or Infinity
}

// maxExponent bounds how many zeros a number may be written with.
const maxExponent = 10000

func parseDecimal(s string) (decimal, bool) {
	var d decimal
	d.negative = strings.HasPrefix(s, "-")
	s = strings.TrimLeft(s, "+-")
	if s == "NaN" || s == "Infinity" {
		d.special = s
		return d, true
	}
	mantissa, power, hasPower := strings.Cut(strings.ToLower(s), "e")
	if hasPower {
		n, err := strconv.Atoi(power)
		if err != nil || n > maxExponent || n < -maxExponent {
			return d, false
		}
		d.exponent = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.digits = whole + fraction
	d.exponent += len(whole)
	if d.digits == "" || strings.Trim(d.digits, "0123456789") != "" {
		return d, false
	}
	d.trim()
	return d, true
}

func (d *decimal) trim() {
	kept := strings.TrimLeft(d.digits, "0")
	d.exponent -= len(d.digits) - len(kept)
	d.digits = strings.TrimRight(kept, "0")
	if d.digits == "" {
		d.exponent = 0
	}
}

func (d *decimal) zero() bool { return d.digits == "" }

// round keeps as many digits as the format allows; a half goes away from zero.
func (f *NumberFormat) round(d *decimal) {
	if f.MaxSignificant > 0 {
		d.keep(f.MaxSignificant)
		return
	}
	d.keep(d.exponent + f.MaxFraction)
}

// keep rounds to the first n digits.
func (d *decimal) keep(n int) {
	if n >= len(d.digits) || d.special != "" {
		return
	}
	if n < 0 {
		d.digits, d.exponent = "", 0
		return
	}
	up := d.digits[n] >= '5'
	d.digits = d.digits[:n]
	if up {
		d.increment()
	}
	d.trim()
}

// increment adds one to the last digit.
func (d *decimal) increment() {
	b := []byte(d.digits)
	for n := len(b) - 1; n >= 0; n-- {
		if b[n] != '9' {
			b[n]++
			d.digits = string(b)
			return
		}
		b[n] = '0'
	}
	d.digits = "1" + string(b)
	d.exponent++
}

// split gives what stands before the point, at least a zero, and behind it.
func (d *decimal) split() (whole, fraction string) {
	switch {
	case d.exponent <= 0:
		whole = "0"
		if !d.zero() {
			fraction = strings.Repeat("0", -d.exponent) + d.digits
		}
	case d.exponent >= len(d.digits):
		whole = d.digits + strings.Repeat("0", d.exponent-len(d.digits))
	default:
		whole, fraction = d.digits[:d.exponent], d.digits[d.exponent:]
	}
	return whole, fraction
}

// significantBefore counts significant digits before the point: fewer than none for 0.00…, as the zeros
// behind the point are not significant.
func (d *decimal) significantBefore() int {
	if d.zero() {
		return 1
	}
	return d.exponent
}
