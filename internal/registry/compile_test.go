package registry_test

import (
	"encoding/json"

	"toolroom/internal/registry"
	"toolroom/tool"
)

type anyObject struct{ raw json.RawMessage }

func (a anyObject) Validate(v json.RawMessage) (json.RawMessage, error) { return v, nil }
func (a anyObject) Parameters() json.RawMessage                         { return a.raw }

func compile(body string, _ tool.Language) (*registry.Compiled, error) {
	return &registry.Compiled{Code: []byte(body)}, nil
}

func schemaOf(raw json.RawMessage) (registry.Schema, error) { return anyObject{raw}, nil }
