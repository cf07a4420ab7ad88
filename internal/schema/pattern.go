package schema

import (
	"regexp"
	"strings"
)

// translate writes the names of Unicode properties as the regexp library knows
// them: ECMA-262 also takes the long names of general categories, and scripts
// as Script=NAME.
func translate(expression string) string {
	return regexp.MustCompile(`(\\+)([pP])\{([^{}]*)\}`).ReplaceAllStringFunc(expression, func(s string) string {
		slashes := len(s) - len(strings.TrimLeft(s, `\`))
		if slashes%2 == 0 {
			return s
		}
		name := strings.TrimSuffix(s[slashes+2:], "}")
		return s[:slashes+1] + "{" + property(name) + "}"
	})
}

// property is a Unicode property by its short name.
func property(name string) string {
	for _, prefix := range []string{"General_Category=", "gc=", "Script=", "sc=", "Script_Extensions=", "scx="} {
		name = strings.TrimPrefix(name, prefix)
	}
	if short := category(name); short != "" {
		return short
	}
	return name
}

// category is the short name of a general category, or "".
func category(long string) string {
	const table = `
		Letter=L Lowercase_Letter=Ll Uppercase_Letter=Lu Titlecase_Letter=Lt Modifier_Letter=Lm Other_Letter=Lo Mark=M
		Combining_Mark=M Nonspacing_Mark=Mn Spacing_Mark=Mc Enclosing_Mark=Me Number=N Decimal_Number=Nd digit=Nd
		Letter_Number=Nl Other_Number=No Punctuation=P punct=P Connector_Punctuation=Pc Dash_Punctuation=Pd
		Open_Punctuation=Ps Close_Punctuation=Pe Initial_Punctuation=Pi Final_Punctuation=Pf Other_Punctuation=Po
		Symbol=S Math_Symbol=Sm Currency_Symbol=Sc Modifier_Symbol=Sk Other_Symbol=So Separator=Z Space_Separator=Zs
		Line_Separator=Zl Paragraph_Separator=Zp Other=C Control=Cc cntrl=Cc Format=Cf Surrogate=Cs Private_Use=Co`
	for pair := range strings.FieldsSeq(table) {
		if name, short, _ := strings.Cut(pair, "="); name == long {
			return short
		}
	}
	return ""
}
