package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file refuses params that the SDK would refuse too, before it: its words for them are those of
// a Go program, with its types in them.

// oddParams is the answer to a request whose params do not have the shape that its method takes,
// nil for any other message.
func oddParams(message map[string]json.RawMessage) []byte {
	var method string
	id, asked := message["id"]
	if json.Unmarshal(message["method"], &method) != nil || !asked {
		return nil
	}
	if strings.HasPrefix(method, "notifications/") {
		return complaint(jsonrpc.CodeInvalidRequest, id, method+" is a notification: send it without an id")
	}
	shape, required := paramsOf(method)
	if shape == nil {
		return nil // the SDK says that there is no such method
	}
	if why := misshapen(message["params"], shape, required); why != "" {
		return complaint(jsonrpc.CodeInvalidParams, id, method+": "+why)
	}
	return nil
}

// misshapen says where params do not have the shape, "" when they do.
func misshapen(params json.RawMessage, shape any, required bool) string {
	params = bytes.TrimSpace(params)
	if len(params) == 0 || string(params) == "null" {
		if required {
			return "params are missing: an object is wanted"
		}
		return ""
	}
	err := json.Unmarshal(params, shape)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &wrong):
		return "params do not have the shape that the protocol gives them"
	}
	place := "params"
	if wrong.Field != "" {
		place += "." + wrong.Field
	}
	return fmt.Sprintf("%s: want %s%s", place, kindOf(wrong.Type), instead(wrong.Value))
}

// instead is what came instead of what was wanted, as far as the decoder says it in a word.
func instead(value string) string {
	switch kind, _, _ := strings.Cut(value, " "); kind { // "number 1.5"
	case "bool":
		return ", got boolean"
	case "string", "number", "array", "object":
		return ", got " + kind
	}
	return ""
}

// kindOf is what JSON calls the values that a Go type takes.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return "number"
}

// paramsOf is where the SDK reads a method's params into, nil for a method it does not have, and
// whether they must be there.
func paramsOf(method string) (shape any, required bool) {
	switch method {
	case "initialize":
		return new(mcp.InitializeParams), true
	case "tools/call":
		return new(mcp.CallToolParamsRaw), true
	case "prompts/get":
		return new(mcp.GetPromptParams), true
	case "resources/read":
		return new(mcp.ReadResourceParams), true
	case "resources/subscribe":
		return new(mcp.SubscribeParams), true
	case "resources/unsubscribe":
		return new(mcp.UnsubscribeParams), true
	case "completion/complete":
		return new(mcp.CompleteParams), true
	case "logging/setLevel":
		return new(setLevel), true
	case "subscriptions/listen":
		return new(mcp.SubscriptionsListenParams), true
	}
	return optionalParams(method), false
}

// setLevel stands in for the SDK's type, which is deprecated as the method is.
type setLevel struct {
	Meta  map[string]any `json:"_meta"`
	Level string         `json:"level"`
}

// optionalParams is paramsOf for methods that do without params.
func optionalParams(method string) any {
	switch method {
	case "ping":
		return new(mcp.PingParams)
	case "server/discover":
		return new(mcp.DiscoverParams)
	case "tools/list":
		return new(mcp.ListToolsParams)
	case "prompts/list":
		return new(mcp.ListPromptsParams)
	case "resources/list":
		return new(mcp.ListResourcesParams)
	case "resources/templates/list":
		return new(mcp.ListResourceTemplatesParams)
	}
	return nil
}

// withCode gives an error of the SDK's that says no more than that something was out of turn, such as a second
// initialize, the protocol's code for that: the SDK would send it with the code 0.
func withCode(err error) error {
	var known *jsonrpc.Error
	if err == nil || errors.As(err, &known) && known.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}
