package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom/internal/cli"
)

// served is a room that serves MCP on stdio, for a client that cannot ask its user.
func served(t *testing.T, flags ...string) (session *mcp.ClientSession, where []string) {
	t.Helper()
	where = []string{"--data", t.TempDir(), "--root", t.TempDir()}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := append(append([]string{"mcp"}, where...), flags...)
		ended <- cli.Run(context.Background(), args, toServer, fromServer, io.Discard, func(string) string { return "" })
		fromServer.Close()
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if code := <-ended; code != 0 {
			t.Errorf("the server ended with %d", code)
		}
	})
	return session, where
}

// says runs a command to its end.
func says(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Run(t.Context(), args, strings.NewReader(""), &out, &err, func(string) string { return "" })
	return code, out.String() + err.String()
}

const everywhere = `{"name":"everywhere","description":"For all.","parameters":{},"body":"return 1","location":"global","reason":"fine\nYou are asked because\n- nothing"}`

func create(t *testing.T, session *mcp.ClientSession) (failed bool, text string) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "create_tool", Arguments: json.RawMessage(everywhere)})
	if err != nil {
		t.Fatal(err)
	}
	return res.IsError, res.Content[0].(*mcp.TextContent).Text
}

// pending is the id of the one question that waits.
func pending(t *testing.T, where []string) string {
	t.Helper()
	var list struct{ Approvals []struct{ ID string } }
	for end := time.Now().Add(20 * time.Second); len(list.Approvals) == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		code, out := says(t, append([]string{"approval", "list", "--json"}, where...)...)
		if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
			t.Fatalf("ended with %d: %s", code, out)
		}
	}
	if len(list.Approvals) != 1 {
		t.Fatalf("%d questions wait", len(list.Approvals))
	}
	return list.Approvals[0].ID
}

// TestApprovalsAreAnsweredWhileTheRoomRuns: the room has the directory's lock, and approval works beside it.
func TestApprovalsAreAnsweredWhileTheRoomRuns(t *testing.T) {
	session, where := served(t)
	if failed, text := create(t, session); !failed || !strings.HasPrefix(text, "approval_unavailable") {
		t.Fatalf("with nobody to ask: %s", text)
	}
	id := pending(t, where)
	if code, out := says(t, append([]string{"approval", "show", id}, where...)...); code != 0 || !strings.Contains(out, "+return 1") ||
		strings.Count(out, "\nYou are asked because\n") != 1 {
		t.Errorf("the question reads, with %d:\n%s", code, out)
	}
	if code, out := says(t, append([]string{"approval", "approve", id}, where...)...); code != 0 {
		t.Fatalf("approving ended with %d: %s", code, out)
	}
	if code, out := says(t, append([]string{"approval", "decline", id}, where...)...); code != 1 || !strings.Contains(out, "conflict") {
		t.Errorf("answering twice ended with %d: %s", code, out)
	}
	if failed, text := create(t, session); failed {
		t.Errorf("after the approval: %s", text)
	}
	if code, out := says(t, append([]string{"tool", "list"}, where...)...); code != 3 || !strings.Contains(out, "locked") {
		t.Errorf("everything else needs the room: %d %s", code, out)
	}
}

// TestAChangeWaitsForItsAnswer with --approval-wait, and is declined or made at once when it comes.
func TestAChangeWaitsForItsAnswer(t *testing.T) {
	session, where := served(t, "--approval-wait", "1m")
	for _, c := range []struct{ word, starts string }{{"decline", "approval_declined"}, {"approve", `{"name":"everywhere"`}} {
		got := make(chan string, 1)
		go func() {
			_, text := create(t, session)
			got <- text
		}()
		if code, out := says(t, append([]string{"approval", c.word, pending(t, where)}, where...)...); code != 0 {
			t.Fatalf("%s ended with %d: %s", c.word, code, out)
		}
		if text := <-got; !strings.HasPrefix(text, c.starts) {
			t.Errorf("after %s: %s", c.word, text)
		}
	}
}

// TestOperatorsRules: what an operator forbids or answers beforehand.
func TestOperatorsRules(t *testing.T) {
	session, _ := served(t, "--no-global-tools", "local")
	if failed, text := create(t, session); !failed || !strings.HasPrefix(text, "forbidden") {
		t.Errorf("without global tools: %s", text)
	}
	if code, out := says(t, "doctor", "--data", t.TempDir(), "--no-global-tools", "local", "--approval-wait", "5s"); code != 0 ||
		!strings.Contains(out, "--no-global-tools local") || !strings.Contains(out, "--approval-wait 5s") {
		t.Errorf("doctor ended with %d and says nothing of the rules:\n%s", code, out)
	}
	if code, out := says(t, "tool", "list", "--data", t.TempDir(), "--root", t.TempDir()); code != 0 {
		t.Errorf("%d %s", code, out)
	}
	code, out := func() (int, string) {
		var b bytes.Buffer
		code := cli.Run(t.Context(), []string{"tool", "list", "--data", t.TempDir(), "--root", t.TempDir()}, strings.NewReader(""), &b, &b,
			func(name string) string { return map[string]string{"TOOLROOM_POLICY": "/nowhere/policy.json"}[name] })
		return code, b.String()
	}()
	if code != 3 || !strings.Contains(out, "/nowhere/policy.json") {
		t.Errorf("with a policy file that is not there: %d %s", code, out)
	}
}
