package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom"
	"toolroom/internal/builtin"
	"toolroom/tool"
)

// list answers tools/list: the built-in tools come first, on the first page.
func (s *Server) list(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	page, err := s.workspace.Tools(ctx, toolroom.ListOptions{Cursor: cursor})
	if err != nil {
		e := tool.AsError(err)
		return nil, &jsonrpc.Error{Code: listCode(e), Message: e.Error()}
	}
	res := &mcp.ListToolsResult{Tools: []*mcp.Tool{}, NextCursor: page.Next, Cacheable: private()}
	if cursor == "" {
		for _, t := range builtin.List() {
			res.Tools = append(res.Tools, &mcp.Tool{
				Name: t.Name, Description: t.Description, InputSchema: t.Parameters, Annotations: annotate(&t.Annotations),
			})
		}
	}
	for _, t := range page.Tools {
		if t.Broken == nil && !t.Shadowed {
			res.Tools = append(res.Tools, offer(t.Name, t.Current.Definition))
		}
	}
	return res, nil
}

// listCode is the protocol's code for a list that could not be made.
func listCode(e *tool.Error) int64 {
	if e.Code == tool.InvalidArguments {
		return jsonrpc.CodeInvalidParams
	}
	return jsonrpc.CodeInternalError
}

func offer(name string, d tool.Definition) *mcp.Tool {
	t := &mcp.Tool{Name: name, Description: d.Description, InputSchema: d.Parameters, Annotations: annotate(d.Annotations)}
	if len(d.OutputSchema) > 0 {
		t.OutputSchema = wrapOutput(d.OutputSchema)
	}
	return t
}

func annotate(a *tool.Annotations) *mcp.ToolAnnotations {
	if a == nil {
		return nil
	}
	return &mcp.ToolAnnotations{
		Title: a.Title, ReadOnlyHint: isTrue(a.ReadOnly), IdempotentHint: isTrue(a.Idempotent),
		DestructiveHint: a.Destructive, OpenWorldHint: a.OpenWorld,
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// wrapOutput is the schema of structured content, {"result": VALUE}, for a tool
// whose values meet schema. A schema with references gets an identity of its
// own, so that "#/..." in it still means what it meant at the root.
func wrapOutput(schema json.RawMessage) json.RawMessage {
	inner := schema
	if bytes.Contains(schema, []byte(`"$ref"`)) && !bytes.Contains(schema, []byte(`"$id"`)) && bytes.HasPrefix(bytes.TrimSpace(schema), []byte("{")) {
		rest := bytes.TrimSpace(schema)[1:]
		inner = append([]byte(`{"$id":"urn:toolroom:result",`), rest...)
	}
	return json.RawMessage(`{"type":"object","properties":{"result":` + string(inner) + `},"required":["result"]}`)
}
