package schema

import (
	"slices"

	"toolroom/tool"
)

// resolveNullable makes OpenAPI's "nullable": true mean what its author means,
// in the plain tree that is validated.
func resolveNullable(v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	if s["nullable"] == true {
		allowNull(s)
	}
	for k, child := range s {
		switch shapeOf(k) {
		case one, list:
			resolveNullable(child)
			elements, _ := child.([]any)
			for _, e := range elements {
				resolveNullable(e)
			}
		case named:
			m, _ := child.(map[string]any)
			for _, e := range m {
				resolveNullable(e)
			}
		}
	}
}

func allowNull(s map[string]any) {
	switch t := s["type"].(type) {
	case string:
		s["type"] = []any{t, "null"}
		if t == "null" {
			s["type"] = "null"
		}
	case []any:
		if !slices.Contains(t, any("null")) {
			s["type"] = append(t[:len(t):len(t)], "null")
		}
	}
	if values, ok := s["enum"].([]any); ok && !slices.Contains(comparable(values), any(nil)) {
		s["enum"] = append(values[:len(values):len(values)], nil)
	}
}

// comparable is list without what == cannot compare.
func comparable(list []any) []any {
	var out []any
	for _, v := range list {
		switch v.(type) {
		case []any, map[string]any:
		default:
			out = append(out, v)
		}
	}
	return out
}

// ownWarnings is what holds for every reader of the schema.
func ownWarnings(root any) []tool.Warning {
	var out []tool.Warning
	visit(root, func(path []string, s *object) {
		v, ok := s.get("nullable")
		if !ok || v != true {
			return
		}
		message := `nullable is OpenAPI, not JSON Schema; it is honoured as "type": [..., "null"], which is better written out`
		if _, typed := s.get("type"); !typed {
			message = `nullable has no effect without "type": write "anyOf": [..., {"type": "null"}]`
		}
		out = append(out, tool.Warning{About: "parameters", Path: pathOf(path), Message: message})
	})
	return out
}
