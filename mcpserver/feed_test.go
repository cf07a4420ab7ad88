package mcpserver_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite" // to change a room's file behind its back

	"toolroom"
	"toolroom/mcpserver"
	"toolroom/tool"
)

// behind opens the file of a room that runs, as nothing but a test should.
func behind(t *testing.T, data string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "room.db")+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// listed is the names that tools/list gives, without the built-in ones.
func listed(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	for x, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, x.Name)
	}
	return names[8:]
}

// TestALostNotificationIsMadeGood changes a tool behind the back of the room, which so is told of
// nothing: clients learn of it within 5 s all the same, and calls get the new version.
func TestALostNotificationIsMadeGood(t *testing.T) {
	both(t, func(t *testing.T, connect func(*testing.T, *mcpserver.Server, *mcp.ClientOptions) *mcp.ClientSession) {
		data := t.TempDir()
		_, s := openAt(t, data, toolroom.Options{})
		told := make(chan struct{}, 100)
		session := connect(t, s, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} }})
		call(t, session, "create_tool", `{"name":"a","description":"A.","parameters":{},"body":"return 1"}`)
		call(t, session, "update_tool", `{"name":"a","body":"return 2"}`)
		if got := text(call(t, session, "a", `{}`)); got != "2" {
			t.Fatalf("got %s", got)
		}
		time.Sleep(500 * time.Millisecond) // what the changes above gave notice of has come
		for len(told) > 0 {
			<-told
		}
		changed := time.Now()
		if _, err := behind(t, data).Exec(`BEGIN;
			UPDATE tools SET current = (SELECT id FROM versions WHERE number = 1), revision = revision + 1;
			INSERT INTO changes (tenant, workspace, name, action, version, at) SELECT tenant, workspace, name, 'restored', current, updated FROM tools;
			COMMIT`); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
		case <-time.After(15 * time.Second):
			t.Fatal("nobody told the client")
		}
		if took := time.Since(changed); took > 5*time.Second {
			t.Errorf("the client was told after %s, want 5 s at most", took)
		}
		if got := text(call(t, session, "a", `{}`)); got != "1" {
			t.Errorf("after the notice a call gets %s, want the version that is current", got)
		}
	})
}

// TestABadRowTakesNoListDown puts rows that no room would write into the store.
func TestABadRowTakesNoListDown(t *testing.T) {
	data := t.TempDir()
	_, s := openAt(t, data, toolroom.Options{})
	session := overStdio(t, s, nil)
	broken := map[string]string{ // by name, what is done to it
		"no_json":       `UPDATE versions SET definition = '{"name":' WHERE id = (SELECT current FROM tools WHERE name = 'no_json')`,
		"no_object":     `UPDATE versions SET definition = '[1]' WHERE id = (SELECT current FROM tools WHERE name = 'no_object')`,
		"empty":         `UPDATE versions SET definition = '' WHERE id = (SELECT current FROM tools WHERE name = 'empty')`,
		"bad_schema":    `UPDATE versions SET definition = json_set(definition, '$.parameters', json('{"type":"object","properties":5}')) WHERE id = (SELECT current FROM tools WHERE name = 'bad_schema')`,
		"bad_types":     `UPDATE versions SET definition = json_set(definition, '$.body', 5) WHERE id = (SELECT current FROM tools WHERE name = 'bad_types')`,
		"no_version":    `UPDATE tools SET current = 'v-gone' WHERE name = 'no_version'`,
		"null_schema":   ``, // these four have a hash that is right, see below
		"list_schema":   ``,
		"number_schema": ``,
		"text_schema":   ``,
		"other_author":  `UPDATE versions SET changed = 'not json' WHERE id = (SELECT current FROM tools WHERE name = 'other_author')`,
	}
	for _, name := range append(slices.Sorted(func(yield func(string) bool) {
		for n := range broken {
			if !yield(n) {
				return
			}
		}
	}), "good", "zz_good") {
		call(t, session, "create_tool", fmt.Sprintf(`{"name":%q,"description":"A.","parameters":{},"body":"return 7"}`, name))
	}
	db := behind(t, data)
	if _, err := db.Exec(`DROP TRIGGER versions_never_change`); err != nil {
		t.Fatal(err)
	}
	for name, sql := range broken {
		if _, err := db.Exec(sql); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, parameters := range map[string]string{"null_schema": "null", "list_schema": "[]", "number_schema": "5", "text_schema": `"object"`} {
		rewrite(t, db, name, parameters)
	}
	names := listed(t, session)
	if !slices.Contains(names, "good") || !slices.Contains(names, "zz_good") {
		t.Errorf("tools/list has %q, and the good ones are not all there", names)
	}
	var list struct {
		Tools []struct {
			Name   string
			Broken *struct{ Code, Message string }
		}
	}
	if err := json.Unmarshal([]byte(text(call(t, session, "list_tools", `{}`))), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != len(broken)+2 {
		t.Errorf("list_tools has %d tools, want all %d", len(list.Tools), len(broken)+2)
	}
	for _, x := range list.Tools {
		_, bad := broken[x.Name]
		if bad && x.Broken == nil || !bad && x.Broken != nil {
			t.Errorf("%s is shown as broken: %+v", x.Name, x.Broken)
		}
		if bad && slices.Contains(names, x.Name) {
			t.Errorf("%s is offered although it is broken", x.Name)
		}
	}
	if got := text(call(t, session, "good", `{}`)); got != "7" {
		t.Errorf("a good tool answers %s", got)
	}
	for name := range broken {
		res := call(t, session, "read_tool", fmt.Sprintf(`{"name":%q}`, name))
		if !res.IsError && !strings.Contains(text(res), "broken") {
			t.Errorf("read_tool of %s: %s", name, text(res))
		}
	}
}

// rewrite gives a tool other parameters, and the hash that fits them.
func rewrite(t *testing.T, db *sql.DB, name, parameters string) {
	t.Helper()
	var definition string
	if err := db.QueryRow(`SELECT definition FROM versions WHERE id = (SELECT current FROM tools WHERE name = ?)`, name).Scan(&definition); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(definition, `"parameters":{"type":"object","properties":{}}`, `"parameters":`+parameters, 1)
	if changed == definition {
		t.Fatalf("%s has other parameters than it was made with: %s", name, definition)
	}
	hash := sha256.Sum256([]byte(changed))
	if _, err := db.Exec(`UPDATE versions SET definition = ?, hash = ? WHERE id = (SELECT current FROM tools WHERE name = ?)`, changed, hex.EncodeToString(hash[:]), name); err != nil {
		t.Fatal(err)
	}
}

// TestALaterCollisionIsShownPerTool makes a global tool under a name that another workspace has already.
func TestALaterCollisionIsShownPerTool(t *testing.T) {
	room := roomWith(t, toolroom.Options{Data: t.TempDir(), Approver: toolroom.ApproverFunc(func(_ context.Context, q toolroom.Question) (toolroom.Answer, error) {
		return toolroom.Answer{Decision: toolroom.Approve, Hash: q.Hash}, nil
	})})
	session := overStdio(t, mcpserver.New(t.Context(), within(t, room, "w"), mcpserver.Options{}), nil)
	call(t, session, "create_tool", `{"name":"dup","description":"Here.","parameters":{},"body":"return 'here'"}`)
	elsewhere := within(t, room, "other")
	if _, err := elsewhere.Create(t.Context(), tool.Definition{Name: "Dup", Description: "All.", Body: "return 'all'", Location: tool.InTenant}, toolroom.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if names := listed(t, session); !slices.Equal(names, []string{"dup"}) {
		t.Errorf("tools/list has %q, want the workspace's own tool once", names)
	}
	var list struct {
		Tools []struct {
			Location, Note string
			Shadowed       bool
		}
	}
	if err := json.Unmarshal([]byte(text(call(t, session, "list_tools", `{}`))), &list); err != nil || len(list.Tools) != 2 {
		t.Fatalf("list_tools: %+v, %v", list, err)
	}
	for _, x := range list.Tools {
		if global := x.Location == "global"; x.Shadowed != global || (x.Note != "") != global {
			t.Errorf("list_tools shows %+v", x)
		}
	}
	if got := text(call(t, session, "dup", `{}`)); got != "here" {
		t.Errorf("a call gets %s", got)
	}
}

// TestEightUpdatesAtOnceOverMCP: none is lost, and with an expected version one is made and seven are told why not.
func TestEightUpdatesAtOnceOverMCP(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	session := overStdio(t, s, nil)
	first := text(call(t, session, "create_tool", `{"name":"busy","description":"B.","parameters":{},"body":"return 0"}`))
	var made struct{ Version string }
	if err := json.Unmarshal([]byte(first), &made); err != nil {
		t.Fatal(err)
	}
	together := func(more string) (good, conflicts int) {
		answers := make(chan string, 8)
		for i := range 8 {
			go func() {
				args := fmt.Sprintf(`{"name":"busy","body":"return %d + %d"%s}`, i, len(more), more)
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "update_tool", Arguments: json.RawMessage(args)})
				if err != nil {
					answers <- err.Error()
					return
				}
				answers <- text(res)
			}()
		}
		for range 8 {
			switch got := <-answers; {
			case strings.HasPrefix(got, `{"name":"busy"`):
				good++
			case strings.HasPrefix(got, "conflict: "):
				conflicts++
			default:
				t.Errorf("got %s", got)
			}
		}
		return good, conflicts
	}
	if good, conflicts := together(fmt.Sprintf(`,"expected_version":%q`, made.Version)); good != 1 || conflicts != 7 {
		t.Errorf("with an expected version %d were made and %d conflicted, want 1 and 7", good, conflicts)
	}
	if good, _ := together(""); good != 8 {
		t.Errorf("without one %d were made, want 8", good)
	}
	var read struct{ History []struct{ Number int } }
	if err := json.Unmarshal([]byte(text(call(t, session, "read_tool", `{"name":"busy","history":true}`))), &read); err != nil || len(read.History) != 10 {
		t.Errorf("the history has %d versions, want 10: %v", len(read.History), err)
	}
}
