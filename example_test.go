package toolroom_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"toolroom"
	"toolroom/tool"
)

// open is a room in a folder that goes away, and its workspace for a user.
func open() (*toolroom.Workspace, func()) {
	dir, err := os.MkdirTemp("", "toolroom-example-")
	if err != nil {
		panic(err)
	}
	room, err := toolroom.Open(context.Background(), toolroom.Options{Data: dir})
	if err != nil {
		panic(err)
	}
	w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "acme", Workspace: "sales"}, Kind: tool.User, ID: "ann"}, "")
	if err != nil {
		panic(err)
	}
	return w, func() { room.Close(); os.RemoveAll(dir) }
}

func Example() {
	// In main, before anything else: toolroom.WorkerMain()
	ctx := context.Background()
	w, done := open()
	defer done()

	_, err := w.Create(ctx, tool.Definition{
		Name:        "greet",
		Description: "Greets somebody by name.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		Body:        "return `Hello, ${args.name}!`",
	}, toolroom.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := w.Call(ctx, "greet", json.RawMessage(`{"name":"Ada"}`))
	fmt.Println(string(out.Value), err)
	// Output: "Hello, Ada!" <nil>
}

func ExampleWorkspace_Run() {
	w, done := open()
	defer done()
	out, err := w.Run(context.Background(), tool.Definition{Body: "return args.map(n => n * n)"}, json.RawMessage(`[1, 2, 3]`))
	fmt.Println(string(out.Value), err)
	// Output: [1,4,9] <nil>
}

func ExampleWorkspace_Create_mistake() {
	w, done := open()
	defer done()
	_, err := w.Create(context.Background(), tool.Definition{
		Name: "greet", Description: "Greets.", Parameters: json.RawMessage(`{"type":"object"}`),
		Body: "const a = 1;\nreturn a +;",
	}, toolroom.CreateOptions{})
	var e *tool.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code)
		fmt.Println(e.Message)
	}
	// Output:
	// syntax_error
	// line 2, column 11: Unexpected ";"
}

func ExampleWorkspace_Restore() {
	ctx := context.Background()
	w, done := open()
	defer done()
	first, err := w.Create(ctx, tool.Definition{
		Name: "answer", Description: "The answer.", Parameters: json.RawMessage(`{"type":"object"}`), Body: "return 42",
	}, toolroom.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	worse := "return 41"
	_, _ = w.Update(ctx, "answer", tool.Patch{Body: &worse}, toolroom.ChangeOptions{Reason: "a guess"})
	_, _ = w.Restore(ctx, "answer", first.Tool.Current.ID, toolroom.ChangeOptions{})
	history, err := w.History(ctx, "answer", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range history.Versions {
		fmt.Println(v.Number, v.Definition.Body, v.Changed)
	}
	// Output:
	// 3 return 42 [restored body]
	// 2 return 41 [body]
	// 1 return 42 [created]
}
