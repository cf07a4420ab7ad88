package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolroom/tool"
)

// Problem is one way in which a value does not fit. Path leads to it from the
// root: user.tags[2]. Expected and Got are kinds of thing, for people.
type Problem struct {
	Path     string `json:"path"`
	Message  string `json:"message"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`

	hint string
}

const (
	maxSaid    = 20  // problems in a message
	maxDetails = 100 // problems in details
	maxHints   = 3

	rootName = "(root)"
)

// refuse makes the error that lists problems.
func refuse(code tool.Code, problems []Problem) *tool.Error {
	total := len(problems)
	if total > maxDetails {
		problems = problems[:maxDetails]
	}
	var said, hints []string
	for i, p := range problems {
		if i < maxSaid {
			said = append(said, p.Path+": "+p.Message)
		}
		if p.hint != "" && len(hints) < maxHints && !slices.Contains(hints, p.hint) {
			hints = append(hints, p.hint)
		}
	}
	if total > maxSaid {
		said = append(said, fmt.Sprintf("and %d more", total-maxSaid))
	}
	e := tool.Errorf(code, "%s", strings.Join(said, "\n")).WithDetails(problems)
	if len(hints) > 0 {
		e.WithHint("%s", strings.Join(hints, " "))
	}
	return e
}

// pathOf writes tokens as a path. A token "#3" is an index.
func pathOf(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		switch {
		case index(t):
			b.WriteString("[" + t[1:] + "]")
		case !plainKey(t):
			b.WriteString("[" + strconv.Quote(clip(t, 100)) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(t)
		}
	}
	if b.Len() == 0 {
		return rootName
	}
	return b.String()
}

func index(token string) bool {
	return len(token) > 1 && token[0] == '#' && strings.Trim(token[1:], "0123456789") == ""
}

func plainKey(key string) bool {
	return len(key) <= 100 && regexp.MustCompile(`^[\pL_$][\pL\pN_$-]*$`).MatchString(key)
}

// kind is the JSON type of v.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// describe is the kind of v, and v itself where that is short: string "5".
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return "string " + quote(v)
	case json.Number:
		return "number " + clip(v.String(), 40)
	case bool:
		return "boolean " + strconv.FormatBool(v)
	case []any:
		return fmt.Sprintf("array of %d", len(v))
	}
	return kindOf(v)
}

func quote(s string) string { return strconv.Quote(clip(s, 60)) }

// literal is v as JSON, shortened.
func literal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return kindOf(v)
	}
	return clip(string(b), 80)
}

// clip bounds a text that is quoted in a message.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
