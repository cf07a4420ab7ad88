package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom"
	"toolroom/tool"
)

// questioner asks the person behind a client whether a change may be made. In
// protocol versions up to 2025-11-25 the server asks while the call waits; later ones end
// the call with the question, and the client calls again with the answer.
type questioner struct {
	req  *mcp.CallToolRequest
	open *inputRequired // a question that ends this call
}

const (
	// questionID names the one question that a call can have.
	questionID = "approve"
	// askAndReturn is the first protocol version that ends a call with its question.
	askAndReturn = "2026-07-28"
	// answerIn is how long a person may take.
	answerIn = 5 * time.Minute
)

// Approve implements toolroom.Approver.
func (q *questioner) Approve(ctx context.Context, about toolroom.Question) (toolroom.Answer, error) {
	init := q.req.Session.InitializeParams()
	if init == nil || init.Capabilities == nil || init.Capabilities.Elicitation == nil {
		return toolroom.Answer{}, tool.Errorf(tool.ApprovalUnavailable, "this client cannot ask its user (it has no elicitation)")
	}
	if modern(q.req.Session) {
		return q.askLater(about), nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	res, err := q.req.Session.Elicit(ctx, form(about))
	if err != nil {
		return toolroom.Answer{}, tool.Errorf(tool.ApprovalUnavailable, "the client did not bring an answer").WithCause(err)
	}
	return answer(res, about), nil
}

// askLater takes the answer that came with this call, if it is about this very
// change. Else the call ends with the question, and until then the change is declined.
func (q *questioner) askLater(about toolroom.Question) toolroom.Answer {
	params := q.req.Params
	if res, ok := params.InputResponses[questionID].(*mcp.ElicitResult); ok && params.RequestState == about.Key() {
		return answer(res, about)
	}
	q.open = &inputRequired{CallToolResult: &mcp.CallToolResult{}, question: form(about), state: about.Key()}
	return toolroom.Answer{Decision: toolroom.Decline}
}

func answer(res *mcp.ElicitResult, about toolroom.Question) toolroom.Answer {
	if res.Action == "accept" {
		return toolroom.Answer{Decision: toolroom.Approve, Hash: about.Hash, By: "client"}
	}
	return toolroom.Answer{Decision: toolroom.Decline, By: "client"}
}

// form is the question as a person reads it. It is never shortened: what is not shown would be approved all the same.
func form(about toolroom.Question) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: about.Text(), RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
}

// modern says whether a session speaks a version that marks each result as
// complete or as a question.
func modern(s *mcp.ServerSession) bool {
	init := s.InitializeParams()
	return init != nil && init.ProtocolVersion >= askAndReturn
}

// complete is a result marked as one that asks nothing. The SDK marks those that
// come from its own registry of tools.
type complete struct{ *mcp.CallToolResult }

// MarshalJSON writes the protocol's form.
func (r complete) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(r.CallToolResult)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"resultType":"complete",`), b[1:]...), nil
}

// inputRequired is the result that asks before it answers. The SDK's own result
// type cannot be made to say so from outside the SDK.
type inputRequired struct {
	*mcp.CallToolResult
	question *mcp.ElicitParams
	state    string
}

// MarshalJSON writes the protocol's form.
func (r *inputRequired) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Type     string              `json:"resultType"`
		Requests mcp.InputRequestMap `json:"inputRequests"`
		State    string              `json:"requestState"`
	}{"input_required", mcp.InputRequestMap{questionID: r.question}, r.state})
}
