package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"toolroom/internal/builtin"
	"toolroom/tool"
)

// maxNesting is how deep the SDK reads a message.
const maxNesting = 1000

// head is what a message says that is nested deeper than it can be read: enough to answer it.
type head struct {
	id           json.RawMessage
	method, tool string
	depth        int
}

// tooDeep is the answer to a message that is nested too deep, nil for any other. A call of a
// tool is answered as a tool's failure, which its model can read.
func tooDeep(line []byte) []byte {
	h, err := skim(line)
	if err != nil || h.depth < maxNesting || h.id == nil {
		return nil
	}
	const why = "the arguments are nested deeper than 1000 levels"
	if h.method != "tools/call" {
		return complaint(jsonrpc.CodeInvalidParams, h.id, why)
	}
	code := tool.InvalidArguments
	if h.tool == builtin.CreateTool || h.tool == builtin.UpdateTool {
		code = tool.InvalidSchema // of what a definition holds, only its schemas nest
	}
	result, err := json.Marshal(failure(tool.Errorf(code, why).WithHint("Make them flatter: a list of parts in place of parts within parts."), tool.Outcome{}))
	if err != nil {
		return complaint(jsonrpc.CodeInvalidParams, h.id, why)
	}
	return bytes.Join([][]byte{[]byte(`{"jsonrpc":"2.0","id":`), h.id, []byte(`,"result":`), result, []byte(`}`)}, nil)
}

// skim reads the head of a message token by token, however deep it is nested.
func skim(line []byte) (h head, err error) {
	s := &skimmer{in: json.NewDecoder(bytes.NewReader(line))}
	s.in.UseNumber()
	err = s.object(func(name string) error {
		switch name {
		case "id":
			return s.scalar(func(v any) { h.id, _ = json.Marshal(v) }) // of a string or number, which cannot fail
		case "method":
			return s.scalar(func(v any) { h.method, _ = v.(string) })
		case "params":
			return s.object(func(name string) error {
				if name != "name" {
					return s.skip(nil)
				}
				return s.scalar(func(v any) { h.tool, _ = v.(string) })
			})
		}
		return s.skip(nil)
	})
	h.depth = s.deepest
	return h, err
}

// skimmer walks JSON without holding what it passes.
type skimmer struct {
	in             *json.Decoder
	depth, deepest int
}

func (s *skimmer) token() (json.Token, error) {
	t, err := s.in.Token()
	switch t {
	case json.Delim('{'), json.Delim('['):
		s.depth++
		s.deepest = max(s.deepest, s.depth)
	case json.Delim('}'), json.Delim(']'):
		s.depth--
	}
	return t, err
}

var errNoObject = errors.New("not an object")

// object calls each with every name of an object; each takes the value.
func (s *skimmer) object(each func(name string) error) error {
	if t, err := s.token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errNoObject)
	}
	for s.in.More() {
		t, err := s.token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if err := each(name); err != nil {
			return err
		}
	}
	_, err := s.token()
	return err
}

// scalar gives a string or number to use, and passes anything else.
func (s *skimmer) scalar(use func(any)) error {
	t, err := s.token()
	switch t.(type) {
	case string, json.Number:
		use(t)
	}
	return errors.Join(err, s.skip(t))
}

// skip passes one value, of which first, when there is one, was read already.
func (s *skimmer) skip(first json.Token) error {
	t, err := first, error(nil)
	if t == nil {
		t, err = s.token()
	}
	if _, opens := t.(json.Delim); err != nil || !opens {
		return err
	}
	for outside := s.depth - 1; s.depth > outside && err == nil; {
		_, err = s.token()
	}
	return err
}
