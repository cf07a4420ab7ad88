package tool

import (
	"encoding/json"
	"time"
)

// LogLine is a line a body wrote with console or ctx.log.
type LogLine struct {
	Level string        `json:"level"` // debug, info, warn, error
	At    time.Duration `json:"at_ns"` // since the call began
	Text  string        `json:"text"`
}

// Progress is how far a call says it has come.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Usage is what a call took.
type Usage struct {
	Wall       time.Duration `json:"wall_ns"`
	CPU        time.Duration `json:"cpu_ns"`
	PeakMemory int64         `json:"peak_memory_bytes"`
	Requests   int           `json:"requests"` // host requests made
	BytesIn    int64         `json:"bytes_in"`
	BytesOut   int64         `json:"bytes_out"`
}

// Outcome is what a call gave. Value is one JSON value; with an error it is nil
// and the rest still tells what happened.
type Outcome struct {
	Call    string          `json:"call"`
	Value   json.RawMessage `json:"result"`
	Logs    []LogLine       `json:"logs,omitempty"`
	Dropped int64           `json:"logs_dropped_bytes,omitempty"`
	Usage   Usage           `json:"usage"`
}

// Thrown is the details of call_failed: what the body threw, with the stack in
// the author's lines.
type Thrown struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}
