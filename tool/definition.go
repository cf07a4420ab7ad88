package tool

import "encoding/json"

// Language is what a body is written in.
type Language string

// The languages a body may be written in. JavaScript is the default.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
)

// Runtime is where a body runs.
type Runtime string

// The runtimes. Isolate is the default.
const (
	Isolate Runtime = "isolate"
	Node    Runtime = "node"
)

// Scope is what a tool may touch.
type Scope string

// The scopes. ScopeGlobal (computing and network) is the default; ScopeWorkspace adds the
// workspace's files.
const (
	ScopeGlobal    Scope = "global"
	ScopeWorkspace Scope = "workspace"
)

// Location is where a tool exists.
type Location string

// The locations. InWorkspace is the default; InTenant makes the tool appear in
// every workspace of its tenant.
const (
	InWorkspace Location = "workspace"
	InTenant    Location = "global"
)

// Source is who made a tool. It is set by who calls, never by an argument.
type Source string

// The sources.
const (
	ByUser  Source = "user"
	ByModel Source = "model"
)

// Definition is all that its author says about a tool. The zero value of every
// optional field means its default.
type Definition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Parameters   json.RawMessage `json:"parameters"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Body         string          `json:"body"`
	Language     Language        `json:"language,omitempty"`
	Runtime      Runtime         `json:"runtime,omitempty"`
	Scope        Scope           `json:"scope,omitempty"`
	Location     Location        `json:"location,omitempty"`
	Grant        Grant           `json:"grant,omitzero"`
	Examples     []Example       `json:"examples,omitempty"`
	Annotations  *Annotations    `json:"annotations,omitempty"`
	Limits       Limits          `json:"limits,omitzero"`
}

// Patch is a partial Definition: nil fields stay as they are.
type Patch struct {
	Description  *string          `json:"description,omitempty"`
	Parameters   *json.RawMessage `json:"parameters,omitempty"`
	OutputSchema *json.RawMessage `json:"output_schema,omitempty"`
	Body         *string          `json:"body,omitempty"`
	Language     *Language        `json:"language,omitempty"`
	Runtime      *Runtime         `json:"runtime,omitempty"`
	Scope        *Scope           `json:"scope,omitempty"`
	Location     *Location        `json:"location,omitempty"`
	Grant        *Grant           `json:"grant,omitempty"`
	Examples     *[]Example       `json:"examples,omitempty"`
	Annotations  *Annotations     `json:"annotations,omitempty"`
	Limits       *Limits          `json:"limits,omitempty"`
}

// Example is a test that travels with a tool: the arguments, and either the
// result or the error code it must give. With neither, it must only not fail.
type Example struct {
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  Code            `json:"error,omitempty"`
}

// Annotations are the hints that MCP clients show. They promise nothing: a room
// never decides by them.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"read_only,omitempty"`
	Destructive *bool  `json:"destructive,omitempty"`
	Idempotent  *bool  `json:"idempotent,omitempty"`
	OpenWorld   *bool  `json:"open_world,omitempty"`
}

// Limits are budgets of one call. Zero means the room's own; a definition may
// only tighten.
type Limits struct {
	TimeoutMS      int64 `json:"timeout_ms,omitempty"`       // wall clock, milliseconds
	MemoryMB       int64 `json:"memory_mb,omitempty"`        // isolate memory, MiB
	MaxResultBytes int64 `json:"max_result_bytes,omitempty"` // encoded result, bytes
}

// Tighten returns l with every budget of by that is smaller.
func (l Limits) Tighten(by Limits) Limits {
	return Limits{
		TimeoutMS:      tighter(l.TimeoutMS, by.TimeoutMS),
		MemoryMB:       tighter(l.MemoryMB, by.MemoryMB),
		MaxResultBytes: tighter(l.MaxResultBytes, by.MaxResultBytes),
	}
}

func tighter(a, b int64) int64 {
	if b > 0 && (a == 0 || b < a) {
		return b
	}
	return a
}
