package registry_test

import (
	"encoding/json"

	"toolroom/internal/registry"
)

type anyObject struct{ raw json.RawMessage }

func (a anyObject) Validate(v json.RawMessage) (json.RawMessage, error) { return v, nil }
func (a anyObject) Parameters() json.RawMessage                         { return a.raw }

func schemaOf(raw json.RawMessage) (registry.Schema, error) { return anyObject{raw}, nil }
