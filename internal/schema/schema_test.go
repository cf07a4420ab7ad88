package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolroom/tool"
)

func mustCompile(t *testing.T, raw string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Compile(%s): %v", raw, err)
	}
	return s
}

func TestCompileCompletes(t *testing.T) {
	for raw, want := range map[string]string{
		"":                        `{"type":"object","properties":{}}`,
		"null":                    `{"type":"object","properties":{}}`,
		" {} ":                    `{"type":"object","properties":{}}`,
		`{"type":"object"}`:       `{"properties":{},"type":"object"}`,
		`{"properties":{"a":{}}}`: `{"type":"object","properties":{"a":{}}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`: `{"type":"object","properties":{},"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`,
	} {
		if got := string(mustCompile(t, raw).Parameters()); got != want {
			t.Errorf("Compile(%q) = %s, want %s", raw, got, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 5000) + "{}" + strings.Repeat("}", 5000)
	for _, c := range []struct{ name, raw, path, says string }{
		{"type null", `{"type":null,"properties":{"id":{"type":"string"}},"required":["id"]}`, "type", "null"},
		{"type array", `{"type":"array"}`, "type", `"object"`},
		{"type list", `{"type":["object","null"]}`, "type", `"object"`},
		{"properties text", `{"type":"object","properties":"not-an-object"}`, "properties", "want object"},
		{"description null", `{"type":"object","properties":{"a":{"type":"string","description":null}}}`, "properties.a.description", "want string, got null"},
		{"unknown type", `{"properties":{"a":{"type":"text"}}}`, "properties.a.type", ""},
		{"required true", `{"properties":{"a":{"type":"string","required":true}}}`, "properties.a.required", "want array, got boolean true"},
		{"a string", `"{\"type\":\"object\"}"`, "(root)", "want a JSON Schema object"},
		{"a list", `[]`, "(root)", "want a JSON Schema object"},
		{"bare properties", `{"city":{"type":"string"}}`, "city", "not a keyword"},
		{"duplicate key", `{"type":"object","type":"object"}`, "(root)", "twice"},
		{"not JSON", `{"type":`, "type", "not valid JSON"},
		{"trailing text", `{} {}`, "(root)", "after the JSON value"},
		{"remote http", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, "(root)", "leads out of the schema"},
		{"remote file", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "(root)", "leads out of the schema"},
		{"relative", `{"properties":{"a":{"$ref":"other.json"}}}`, "(root)", "leads out of the schema"},
		{"dangling", `{"properties":{"a":{"$ref":"#/$defs/No"}}}`, "(root)", "$defs/No"},
		{"dialect", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`, "$schema", "unknown dialect"},
		{"cycle", `{"properties":{"q":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`, "", "back to itself"},
		{"cycle of itself", `{"$ref":"#"}`, "(root)", "back to itself"},
		{"cycle by allOf", `{"properties":{"q":{"$ref":"#/$defs/A"}},"$defs":{"A":{"allOf":[{"not":{"$ref":"#/$defs/A"}}]}}}`, "", "back to itself"},
		{"bad pattern", `{"properties":{"q":{"pattern":"("}}}`, "properties.q.pattern", "regular expression"},
		{"bad patternProperties", `{"properties":{"q":{"patternProperties":{"(":{}}}}}`, `properties.q.patternProperties["("]`, "regular expression"},
		{"too deep", deep, "", "nested deeper"},
		{"too large", `{"description":"` + strings.Repeat("x", MaxSchema) + `"}`, "(root)", "at most 65536"},
		{"too many", `{"properties":{` + many(4000) + `}}`, "(root)", "subschemas"},
		{"huge number", `{"properties":{"q":{"maximum":1e999999999}}}`, "properties.q.maximum", "too large"},
		{"bad UTF-8", "{\"title\":\"\xff\"}", "", "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(json.RawMessage(c.raw))
			e, ok := err.(*tool.Error)
			if !ok || e.Code != tool.InvalidSchema {
				t.Fatalf("got %v, want invalid_schema", err)
			}
			problems := e.Details.([]Problem)
			if c.path != "" && problems[0].Path != c.path || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %s; want path %s and %q", e.Message, c.path, c.says)
			}
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{},`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestValidate(t *testing.T) {
	const page = `{"properties":{"page":{"type":"integer"}},"required":["page"],"additionalProperties":false}`
	const user = `{"properties":{"user":{"type":"object","properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["name"]}}}`
	const tree = `{"properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["v"],"additionalProperties":false}`
	const search = `{"properties":{"q":{"type":"string"},"site":{"type":"string"}},"required":["q"]}`
	for _, c := range []struct{ name, schema, args, message, hint string }{
		{"fits", page, `{"page":5}`, "", ""},
		{"integer as float", page, `{"page":120000.0}`, "", ""},
		{"integer with exponent", page, `{"page":1e3}`, "", ""},
		{"fraction", page, `{"page":1.5}`, `page: want integer, got number 1.5`, ""},
		{"number as string", page, `{"page":"5"}`, `page: want integer, got string "5"`, "without quotes: 5"},
		{"missing", page, `{}`, `page: is required and missing; want integer`, ""},
		{"absent", page, ``, `page: is required and missing; want integer`, ""},
		{"null arguments", page, `null`, `page: is required and missing; want integer`, ""},
		{"unknown key", page, `{"page":1,"tone":"warm"}`, `tone: is not a known property; known are "page"`, ""},
		{"two problems", page, `{"page":true,"tone":1}`, "page: want integer, got boolean true\ntone: is not", ""},
		{"as one string", page, `"{\"page\":5}"`, `(root): want object, got string`, "send the object itself"},
		{"array", page, `[1,2]`, `(root): want object, got array of 2`, "one object of named values"},
		{"duplicate", page, `{"page":1,"page":2}`, "twice", ""},
		{"not JSON", page, `{"page":`, "not valid JSON", ""},
		{"two values", page, `{"page":1} 2`, "after the JSON value", ""},
		{"big integer", page, `{"page":2512292042121000001}`, "page: the integer 2512292042121000001 is too large to be exact", "must be a string"},
		{"big integer, nested", user, `{"user":{"name":"x","ids":[1,9007199254740993]}}`, "user.ids[1]: the integer", ""},
		{"largest exact", page, `{"page":9007199254740991}`, "", ""},
		{"negative big", page, `{"page":-9007199254740993}`, "too large to be exact", ""},
		{"infinite", page, `{"page":1e400}`, "too large", ""},
		{"tiny exponent", page, `{"page":1e-999999999}`, "", ""},
		{"encoded object", user, `{"user":"{\"name\":\"kim\"}"}`, `user: want object, got string`, "encoded twice"},
		{"path in list", user, `{"user":{"name":"x","tags":["a",3]}}`, `user.tags[1]: want string, got number 3`, ""},
		{"one for a list", user, `{"user":{"name":"x","tags":"a"}}`, `user.tags: want array, got string "a"`, `["a"]`},
		{"null for optional", search, `{"q":"go","site":null}`, "site: want string, got null", "leave site out"},
		{"recursive", tree, `{"v":"r","kids":[{"v":"a"},{"v":"b","kids":[{"v":"c"}]}]}`, "", ""},
		{"recursive, wrong", tree, `{"v":"r","kids":[{"v":"b","kids":[{"v":1}]}]}`, "kids[0].kids[0].v: want string", ""},
		{"type list", `{"properties":{"n":{"type":["string","null"]}},"required":["n"]}`, `{"n":null}`, "", ""},
		{"nullable", `{"properties":{"n":{"type":"string","nullable":true}},"required":["n"]}`, `{"n":null}`, "", ""},
		{"nullable enum", `{"properties":{"n":{"type":"string","enum":["a"],"nullable":true}}}`, `{"n":null}`, "", ""},
		{"enum of integers", `{"properties":{"n":{"enum":[1,2,3]}}}`, `{"n":4}`, "n: want one of 1, 2, 3, got number 4", ""},
		{"lookahead enforced", `{"properties":{"pw":{"type":"string","pattern":"^(?=.*\\d)(?=.*[A-Z]).{8,}$"}}}`, `{"pw":"abcdefgh"}`, "pw: want text that matches", ""},
		{"lookahead met", `{"properties":{"pw":{"type":"string","pattern":"^(?=.*\\d)(?=.*[A-Z]).{8,}$"}}}`, `{"pw":"abcdefG1"}`, "", ""},
		{"any of", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"a":true}`, "a: want string or integer, got boolean true", ""},
		{"root any of", `{"properties":{"u":{},"t":{}},"anyOf":[{"required":["u"]},{"required":["t"]}]}`, `{}`, "fits none of the alternatives", ""},
		{"const", `{"properties":{"m":{"const":"gross"}}}`, `{"m":"net"}`, `m: want "gross", got string "net"`, ""},
		{"exclusive", `{"properties":{"n":{"exclusiveMinimum":0}}}`, `{"n":0}`, "n: want more than 0, got number 0", ""},
		{"odd key", `{"properties":{"filter[name]":{"type":"string"}}}`, `{"filter[name]":1}`, `["filter[name]"]: want string`, ""},
		{"format is annotation", `{"properties":{"d":{"type":"string","format":"date"}}}`, `{"d":"2024-02-30"}`, "", ""},
		{"draft 7 tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"items":[{"type":"string"},{"type":"number"}]}}}`, `{"p":["a","b"]}`, "p[1]: want number", ""},
		{"property names", `{"properties":{"m":{"propertyNames":{"pattern":"^a"}}}}`, `{"m":{"abc":1,"xyz":2}}`, "m.xyz: the name", ""},
		{"too deep", `{}`, `{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, "nested deeper", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := mustCompile(t, c.schema).Validate(json.RawMessage(c.args))
			if c.message == "" {
				if err != nil {
					t.Fatalf("got %v, want it accepted", err)
				}
				return
			}
			e, ok := err.(*tool.Error)
			if !ok || e.Code != tool.InvalidArguments {
				t.Fatalf("got %v, want invalid_arguments", err)
			}
			if !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("got %q hint %q\nwant %q hint %q", e.Message, e.Hint, c.message, c.hint)
			}
		})
	}
}

func TestValidateGivesWhatWasSent(t *testing.T) {
	s := mustCompile(t, `{"properties":{"n":{"type":"integer","default":10}}}`)
	for args, want := range map[string]string{"": "{}", "null": "{}", " {\"n\": 1.0} ": `{"n": 1.0}`, "{}": "{}"} {
		got, err := s.Validate(json.RawMessage(args))
		if err != nil || string(got) != want {
			t.Errorf("Validate(%q) = %s, %v; want %s", args, got, err, want)
		}
	}
}

func TestValidateOutput(t *testing.T) {
	s, err := CompileOutput(json.RawMessage(`{"type":"array","items":{"type":"number"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ValidateOutput(json.RawMessage(`[1, 1152921504606846976]`)); err != nil {
		t.Error(err)
	}
	if err := s.ValidateOutput(json.RawMessage(`[1, "x"]`)); tool.CodeOf(err) != tool.OutputMismatch {
		t.Errorf("got %v, want output_mismatch", err)
	}
}

// TestWhatIsWrongWithAResult speaks to the author of the body: what to return, and where it is in the result.
func TestWhatIsWrongWithAResult(t *testing.T) {
	const order = `{"type":"object","required":["items"],"properties":{"note":{"type":"string"},"tags":{"type":"array"},"done":{"type":"boolean"},"at":{"type":"object"},
		"items":{"type":"array","items":{"type":"object","properties":{"price":{"type":"number"},"unit":{"enum":["kg","l"]},"size":{"anyOf":[{"type":"number","minimum":1},{"type":"object","required":["w"]}]}}}}}}`
	const fallback = "Return what output_schema says, or change output_schema."
	for _, c := range []struct{ name, schema, value, message, hint string }{
		{"text wanted at the root", `{"type":"string"}`, `{"a":1}`, "result: want string, got object", "Return result as text; JSON.stringify it if output_schema wants JSON in a string."},
		{"number for text at the root", `{"type":"string"}`, `5`, "result: want string, got number 5", `Return result as text: "5".`},
		{"nothing returned", `{"type":"object"}`, `null`, "result: want object, got null", "Return a value: a body that ends without return gives null."},
		{"JSON in a string at the root", order, `"{\"items\":[]}"`, "result: want object, got string", "result is JSON text in a string: return the object itself, without JSON.stringify."},
		{"a list where an object was wanted", order, `[1]`, "result: want object, got array of 1", fallback},
		{"text where an object was wanted", order, `"x"`, `result: want object, got string "x"`, fallback},
		{"a price in quotes", order, `{"items":[{},{},{},{"price":"9.5"}]}`, `result.items[3].price: want number, got string "9.5"`, "Return result.items[3].price without quotes: 9.5."},
		{"null inside", order, `{"items":[],"note":null}`, "result.note: want string, got null", "null is not absence: return a value for result.note, or leave it out if it is optional."},
		{"one for a list", order, `{"items":[],"tags":"a"}`, `result.tags: want array, got string "a"`, `Return result.tags as a list, also when it has one element: ["a"].`},
		{"a list inside in a string", order, `{"items":"[]"}`, "result.items: want array, got string", "result.items is JSON text in a string: return the array itself, without JSON.stringify."},
		{"missing", order, `{}`, "result.items: is required and missing; want array", fallback},
		{"not listed", order, `{"items":[{"unit":"g"}]}`, `result.items[0].unit: want one of "kg", "l", got string "g"`, fallback},
		{"alternatives, each with its place", order, `{"items":[{"size":{}}]}`, "result.items[0].size: fits none of the alternatives: result.items[0].size.w: is required", fallback},
		{"an odd name", `{"additionalProperties":{"type":"number"}}`, `{"a b":"x"}`, `result["a b"]: want number`, fallback},
		{"an item of a list", `{"items":{"type":"number"}}`, `["x"]`, `result[0]: want number`, fallback},
		{"too deep", `{}`, strings.Repeat("[", 600) + strings.Repeat("]", 600), "result[0][0]", fallback},
		{"a pattern without end", `{"items":{"pattern":"^(a+)+$"}}`, `["` + strings.Repeat("a", 40) + `!"]`, "result[0]: the pattern", "backtracks without end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := CompileOutput(json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			e := tool.AsError(s.ValidateOutput(json.RawMessage(c.value)))
			if e == nil || e.Code != tool.OutputMismatch || !strings.HasPrefix(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Fatalf("got %v hint %q\nwant %q hint %q", e, e.Hint, c.message, c.hint)
			}
			if said := e.Message + e.Hint; strings.Contains(said, "(root)") || strings.Contains(strings.ToLower(said), "send ") || strings.Contains(said, "rguments") {
				t.Errorf("the author of a body is told of arguments: %s %s", e.Message, e.Hint)
			}
		})
	}
}

// doubling is a schema of thirty definitions, each of which refers to the next twice.
func doubling(keyword, last string) string {
	var b strings.Builder
	b.WriteString(`{"properties":{"q":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&b, `"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, keyword, i+1, i+1)
	}
	return b.String() + `"d30":` + last + `}}`
}

// TestHostile: each takes far longer, or far more memory, without a bound.
func TestHostile(t *testing.T) {
	enum := `{"properties":{"q":{"items":{"enum":[` + strings.TrimSuffix(strings.Repeat(`"aaaaa",`, 7000), ",") + `]}}}}`
	for _, c := range []struct{ name, schema, args string }{
		{"pattern", `{"properties":{"s":{"pattern":"^(a+)+$"}}}`, `{"s":"` + strings.Repeat("a", 40) + `!"}`},
		{"pattern under not", `{"properties":{"s":{"not":{"pattern":"^(a+)+$"}}}}`, `{"s":"` + strings.Repeat("a", 40) + `!"}`},
		{"many patterns", `{"properties":{"s":{"items":{"pattern":"^(a+)+$"}}}}`, `{"s":[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 22)+`!",`, 1000), ",") + `]}`},
		{"patternProperties", `{"patternProperties":{"^(a+)+$":{}}}`, `{"` + strings.Repeat("a", 40) + `!":1}`},
		{"exponential allOf", doubling("allOf", `{"minLength":1}`), `{"q":"x"}`},
		{"exponential anyOf", doubling("anyOf", `{"type":"array"}`), `{"q":"x"}`},
		{"enum times list", enum, `{"q":[` + strings.TrimSuffix(strings.Repeat(`"aaaab",`, 100000), ",") + `]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			s := mustCompile(t, c.schema)
			_, err := s.Validate(json.RawMessage(c.args))
			if tool.CodeOf(err) != tool.InvalidArguments {
				t.Errorf("got %v, want invalid_arguments", err)
			}
			took := time.Since(start)
			t.Logf("%v: %.200s", took, err.Error())
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if _, err := s.Validate(json.RawMessage(`{}`)); err != nil {
				t.Errorf("the next validation: %v", err)
			}
		})
	}
}

func TestPatternNamesThePath(t *testing.T) {
	s := mustCompile(t, `{"properties":{"list":{"items":{"pattern":"^(a+)+$"}}}}`)
	_, err := s.Validate(json.RawMessage(`{"list":["a","` + strings.Repeat("a", 40) + `!"]}`))
	if err == nil || !strings.Contains(err.Error(), "list[1]: the pattern") {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"type":"string","pattern":"^x"}}}`)
	done := make(chan error)
	for i := range 16 {
		go func() {
			_, err := s.Validate(json.RawMessage(fmt.Sprintf(`{"a":"x%d"}`, i)))
			done <- err
		}()
	}
	for range 16 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s, err := Compile(json.RawMessage(`{"properties":{"page":{"type":"integer"},"q":{"type":"string"}},"required":["page"]}`))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Validate(json.RawMessage(`{"page":5,"q":"go"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
