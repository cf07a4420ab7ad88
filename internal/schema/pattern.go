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
	switch long {
	case "Letter":
		return "L"
	case "Lowercase_Letter":
		return "Ll"
	case "Uppercase_Letter":
		return "Lu"
	case "Titlecase_Letter":
		return "Lt"
	case "Modifier_Letter":
		return "Lm"
	case "Other_Letter":
		return "Lo"
	case "Mark", "Combining_Mark":
		return "M"
	case "Nonspacing_Mark":
		return "Mn"
	case "Spacing_Mark":
		return "Mc"
	case "Enclosing_Mark":
		return "Me"
	case "Number":
		return "N"
	case "Decimal_Number", "digit":
		return "Nd"
	case "Letter_Number":
		return "Nl"
	case "Other_Number":
		return "No"
	case "Punctuation", "punct":
		return "P"
	case "Connector_Punctuation":
		return "Pc"
	case "Dash_Punctuation":
		return "Pd"
	case "Open_Punctuation":
		return "Ps"
	case "Close_Punctuation":
		return "Pe"
	case "Initial_Punctuation":
		return "Pi"
	case "Final_Punctuation":
		return "Pf"
	case "Other_Punctuation":
		return "Po"
	case "Symbol":
		return "S"
	case "Math_Symbol":
		return "Sm"
	case "Currency_Symbol":
		return "Sc"
	case "Modifier_Symbol":
		return "Sk"
	case "Other_Symbol":
		return "So"
	case "Separator":
		return "Z"
	case "Space_Separator":
		return "Zs"
	case "Line_Separator":
		return "Zl"
	case "Paragraph_Separator":
		return "Zp"
	case "Other":
		return "C"
	case "Control", "cntrl":
		return "Cc"
	case "Format":
		return "Cf"
	case "Surrogate":
		return "Cs"
	case "Private_Use":
		return "Co"
	}
	return ""
}
