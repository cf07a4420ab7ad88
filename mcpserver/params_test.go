package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"toolroom"
)

// goWords is how an error of a Go program sounds: types, packages, and what its decoder says.
func goWords() *regexp.Regexp {
	return regexp.MustCompile(`Go (?:value|struct)|unmarshal|interface ?\{|map\[|\*\w+\.|\b(?:mcp|jsonrpc2?|json|tool|wire|builtin|reflect|errors|runtime)\.[A-Za-z]|github\.com|\.go:\d|EOF|code":0`)
}

// malformed is what can be wrong with a request of any method.
func malformed() []string {
	var all []string
	methods := []string{"initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read",
		"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel", "subscriptions/listen",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "sampling/createMessage", "no/such", ""}
	params := []string{"[]", "[1]", `"x"`, "5", "true", "null", `{"name":5}`, `{"name":["x"]}`, `{"cursor":5}`, `{"uri":5}`, `{"level":5}`, `{"level":"x"}`, `{"ref":5}`,
		`{"ref":{"type":"x"}}`, `{"requestId":{}}`, `{"progressToken":{}}`, `{"_meta":5}`, `{"_meta":[]}`, `{"inputResponses":5}`, `{"inputResponses":{"a":5}}`, `{"requestState":5}`,
		`{"notifications":5}`, `{"arguments":5,"name":null}`, `{"protocolVersion":5}`, `{"protocolVersion":"x","clientInfo":5}`, `{"protocolVersion":"x","capabilities":[]}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":5}}`}
	for _, method := range methods {
		all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q}`, method))
		for _, p := range params {
			all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, p))
		}
	}
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, p := range []string{deep, `{"name":"run_code","arguments":` + deep + `}`, `{"name":"run_code","_meta":{"a":` + deep + `}}`} {
		all = append(all, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":`+p+`}`, `{"jsonrpc":"2.0","id":7,"method":"ping","params":`+p+`}`)
	}
	for _, id := range []string{"null", "1.5", "1e400", "true", "{}", "[]", "99999999999999999999999", "-9007199254740993"} {
		all = append(all, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
	}
	return append(all, `[]`, `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, `{}`, `5`, `"x"`, `null`, `{"id":7}`, `{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":2,"id":7,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":7,"method":5}`, `{"jsonrpc":"2.0","id":7,"method":{}}`, `{"jsonrpc":"2.0","id":7,"method":"ping"`, `{"JSONRPC":"2.0","ID":7,"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":7,"error":5}`, strings.Repeat("[", 10_000))
}

// TestMalformedRequestsAreAnsweredInPlainWords sends each to the running program, before it is initialized and after.
func TestMalformedRequestsAreAnsweredInPlainWords(t *testing.T) {
	p := start(t, t.TempDir())
	defer func() { p.stop(t) }()
	p.send(t, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_code"}}`)
	if got := string(p.next(t, "")); goWords().MatchString(got) || !strings.Contains(got, "-32600") {
		t.Errorf("a call before initialize got %s", got)
	}
	p.greet(t)
	for _, line := range malformed() {
		p.send(t, line)
		if got := string(p.next(t, "")); goWords().MatchString(got) {
			t.Errorf("%.200s\n got %s", line, got)
		}
	}
	if code, said := p.ask(t, "run_code", map[string]any{"body": "return 1"}); code != "" {
		t.Errorf("an honest call afterwards got %s", said)
	}
}

// TestMalformedRequestsOverHTTP sends the same over HTTP.
func TestMalformedRequestsOverHTTP(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	server := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close(t.Context())
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	session, _ := post(t, server.URL, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"test","version":"1"},"capabilities":{}}}`)
	post(t, server.URL, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, line := range malformed() {
		if _, got := post(t, server.URL, session, line); goWords().MatchString(got) {
			t.Errorf("%.200s\n got %s", line, got)
		}
	}
	if _, got := post(t, server.URL, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"body":"return 6 * 7"}}}`); !strings.Contains(got, `"result":42`) {
		t.Errorf("an honest call afterwards got %s", got)
	}
}

func post(t *testing.T, url, session, body string) (id, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.Header.Get("Mcp-Session-Id"), string(text)
}

// TestWhatIsWrongWithParamsIsNamed shows the words: the method, the place, what was wanted and what came.
func TestWhatIsWrongWithParamsIsNamed(t *testing.T) {
	p := start(t, t.TempDir())
	defer func() { p.stop(t) }()
	p.greet(t)
	for _, c := range []struct {
		method, params, says string
		code                 int
	}{
		{"tools/call", "", "tools/call: params are missing: an object is wanted", -32602},
		{"tools/call", "null", "tools/call: params are missing: an object is wanted", -32602},
		{"tools/call", "[1]", "tools/call: params: want object, got array", -32602},
		{"tools/call", `{"name":5}`, "tools/call: params.name: want string, got number", -32602},
		{"tools/call", `{"name":"run_code","_meta":true}`, "tools/call: params._meta: want object, got boolean", -32602},
		{"tools/list", `{"cursor":1.5}`, "tools/list: params.cursor: want string, got number", -32602},
		{"initialize", `{"protocolVersion":"x","clientInfo":{"name":[]}}`, "initialize: params.clientInfo.name: want string, got array", -32602},
		{"initialize", `{"protocolVersion":"2025-06-18"}`, `duplicate "initialize" received`, -32600},
		{"completion/complete", `{"ref":{"type":"x"}}`, "completion/complete: params do not have the shape that the protocol gives them", -32602},
		{"notifications/cancelled", `{"requestId":1}`, "notifications/cancelled is a notification: send it without an id", -32600},
		{"no/such", `{}`, `method not found: "no/such"`, -32601},
	} {
		line := `{"jsonrpc":"2.0","id":7,"method":"` + c.method + `"`
		if c.params != "" {
			line += `,"params":` + c.params
		}
		p.send(t, line+"}")
		var got struct {
			ID    int
			Error struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(p.next(t, ""), &got); err != nil {
			t.Fatal(err)
		}
		if got.ID != 7 || got.Error.Code != c.code || got.Error.Message != c.says {
			t.Errorf("%s %s: got %+v, want %d %s", c.method, c.params, got, c.code, c.says)
		}
	}
}
