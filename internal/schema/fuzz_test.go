package schema

import (
	"encoding/json"
	"testing"

	"toolroom/tool"
)

func seeds(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `true`, `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{},{}]}}}`,
		`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}}`,
		`{"properties":{"a b":{"pattern":"^(?=x)(a+)+$","nullable":true,"type":["string"],"format":"date"}}}`,
		`{"patternProperties":{"^x":{"const":1e400}},"unevaluatedProperties":false,"minProperties":1}`,
		`{"properties":{"a":{"oneOf":[{"const":1},{"enum":["x",null]}],"contains":{"not":{}}}}}`,
	} {
		f.Add([]byte(s), []byte(`{"a":1,"a b":"aaaa","x":[1,{"y":null}]}`))
	}
}

// FuzzSchema: whatever is accepted validates, describes and adapts itself
// without a panic, and every form of it is a schema that is accepted again.
func FuzzSchema(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw, args []byte) {
		s, err := Compile(json.RawMessage(raw))
		if err != nil {
			if tool.CodeOf(err) != tool.InvalidSchema {
				t.Fatalf("code of %v", err)
			}
			return
		}
		if _, err := Compile(s.Parameters()); err != nil {
			t.Errorf("the completed schema is refused: %v", err)
		}
		if _, err := s.Validate(args); err != nil && tool.CodeOf(err) != tool.InvalidArguments {
			t.Errorf("code of %v", err)
		}
		s.TypeScript()
		for _, p := range Providers() {
			form := s.For(p)
			if !json.Valid(form.Schema) {
				t.Errorf("%s: not JSON: %s", p, form.Schema)
			}
			if _, problem := parse(args, limits{depth: MaxDepth}); problem == nil && !json.Valid(form.Restore(args)) {
				t.Errorf("%s: Restore gives no JSON", p)
			}
		}
	})
}
