package builtin

import (
	"encoding/json"

	"toolroom/tool"
)

// Tool is a built-in tool as a face offers it.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema; every field is described
	Annotations tool.Annotations
}

// The names of the built-in tools. No other tool may have one.
const (
	CreateTool  = "create_tool"
	UpdateTool  = "update_tool"
	DeleteTool  = "delete_tool"
	ListTools   = "list_tools"
	ReadTool    = "read_tool"
	SearchTools = "search_tools"
	CallTool    = "call_tool"
	RunCode     = "run_code"
)

// List is every built-in tool, in the order they are offered.
func List() []Tool { return append(changing(), append(reading(), running()...)...) }

// Names lists the names of the built-in tools, in the order of List.
func Names() []string {
	var names []string
	for _, t := range List() {
		names = append(names, t.Name)
	}
	return names
}

// Is says whether name is a built-in tool.
func Is(name string) bool {
	_, ok := find(name)
	return ok
}

func find(name string) (Tool, bool) {
	for _, t := range List() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func changing() []Tool {
	return []Tool{{
		Name: CreateTool,
		Description: "Makes a new tool for this workspace from a name, a description, a JSON Schema and a JavaScript body, and offers it at once. " +
			"The body is checked before anything is saved: a refusal names the line and column to mend. Try a body with run_code first when unsure. " +
			"Answers with the name, the version id and warnings worth reading. If your client does not show the new tool, run it with call_tool.",
		Parameters:  object(nameField+","+definitionFields+","+ifExistsField+","+reasonField, `"name","description","parameters","body"`),
		Annotations: hints("Create a tool", false, false, false),
	}, {
		Name: UpdateTool,
		Description: "Changes a tool that a model made: give its name and only the fields to change; the rest stays. " +
			"Saves a new version; calls that already run finish with the old one. Can also switch a tool off or on (enabled) " +
			"or bring back an earlier version (restore_version). Answers with the new version id.",
		Parameters:  object(existingField+","+definitionFields+","+enabledField+","+restoreField+","+expectedField+","+reasonField, `"name"`),
		Annotations: hints("Change a tool", false, false, false),
	}, {
		Name: DeleteTool,
		Description: "Deletes a tool that a model made. Nothing is lost: the answer holds the version id that undoes it, " +
			"by update_tool with restore_version.",
		Parameters:  object(existingField+","+expectedField+","+reasonField, `"name"`),
		Annotations: hints("Delete a tool", false, true, false),
	}}
}

func reading() []Tool {
	return []Tool{{
		Name: ListTools,
		Description: "Lists the tools of this workspace by name, with description, who made each and whether it is enabled. " +
			"Pass next_cursor as cursor for the next page.",
		Parameters:  object(filterField+","+includeFields+","+cursorField, ""),
		Annotations: hints("List tools", true, false, false),
	}, {
		Name: ReadTool,
		Description: "Shows a tool in full: schema, body, what it may do, examples; on request its history, an earlier version, " +
			"or the difference between two versions. Works on deleted tools too.",
		Parameters:  object(existingField+","+readFields+","+cursorField+","+diffField, `"name"`),
		Annotations: hints("Read a tool", true, false, false),
	}, {
		Name: SearchTools,
		Description: "Finds tools of this workspace by what they do. Use it before making a tool: it may exist already. " +
			"Best match first, with the schema needed to call each.",
		Parameters:  object(searchFields, `"query"`),
		Annotations: hints("Search tools", true, false, false),
	}}
}

func running() []Tool {
	return []Tool{{
		Name: CallTool,
		Description: "Runs a tool of this workspace by name, also one that your client does not list yet. " +
			"Answers with what the tool returned.",
		Parameters:  object(existingField+","+argumentsField, `"name"`),
		Annotations: hints("Call a tool", false, true, true),
	}, {
		Name: RunCode,
		Description: "Runs a JavaScript body once and saves nothing. Use it to try a tool before making it, to compute something, " +
			"or to call several tools in one go with await ctx.callTool(name, args).",
		Parameters:  object(bodyField+","+argsField+","+languageField+","+scopeField+","+grantField+","+limitsField, `"body"`),
		Annotations: hints("Run code once", false, true, true),
	}}
}

func object(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

func hints(title string, readOnly, destructive, openWorld bool) tool.Annotations {
	return tool.Annotations{Title: title, ReadOnly: &readOnly, Destructive: &destructive, Idempotent: &readOnly, OpenWorld: &openWorld}
}
