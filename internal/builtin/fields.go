package builtin

// The fields of a definition, as JSON Schema properties. create_tool,
// update_tool and run_code are put together from them, so that a field reads
// the same wherever a model meets it. What a field may hold is decided by the
// registry; the schemas here say it in words and leave the refusing to the
// registry, whose errors say more.
const (
	nameField = `"name":{"type":"string","description":"Name of the tool: a letter, then letters, digits, _ or -, at most 64 in all. Unique in the workspace without regard to case. Built-in names are taken."}`

	descriptionField = `"description":{"type":"string","description":"What the tool does, when to use it and what it returns: 1 to 4096 characters. Other agents choose the tool by this text."}`

	parametersField = `"parameters":{"type":"object","description":"JSON Schema (2020-12) of the arguments, with type object at the root. Describe every property. Only local $ref. Example: {\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\",\"description\":\"City name\"}},\"required\":[\"city\"],\"additionalProperties\":false}"}`

	outputSchemaField = `"output_schema":{"type":"object","description":"Optional JSON Schema that every result must meet; a result that does not is output_mismatch."}`

	bodyField = `"body":{"type":"string","description":"JavaScript: the body of async function execute(args, ctx), or a module with exactly one exported function. Return a JSON value. Available: ECMAScript 2025, fetch, URL, crypto.subtle, TextEncoder, timers, console, structuredClone; ctx.fetchJson(url, options), ctx.callTool(name, args), ctx.progress(done, total, message), and with scope workspace ctx.readText(path), ctx.writeText(path, text), ctx.appendText, ctx.listFiles(path, {recursive}). Not available: require, import, process, Buffer. At most 64 KiB. Example: return { sum: args.a + args.b };"}`

	languageField = `"language":{"type":"string","enum":["javascript","typescript"],"default":"javascript","description":"What the body is written in."}`

	runtimeField = `"runtime":{"type":"string","enum":["isolate","node"],"default":"isolate","description":"Where the body runs. Leave it out: this room serves isolate only."}`

	scopeField = `"scope":{"type":"string","enum":["global","workspace"],"default":"global","description":"What the body may touch: global is computing and network; workspace adds the files of the workspace."}`

	locationField = `"location":{"type":"string","enum":["workspace","global"],"default":"workspace","description":"Where the tool exists: in this workspace only, or in every workspace of the tenant. global needs a person's approval."}`

	grantField = `"grant":{"type":"object","additionalProperties":false,"description":"The capabilities the body gets. Ask for no more than it needs; widening a grant later needs a person's approval.","properties":{` +
		`"net":{"anyOf":[{"type":"string","enum":["any","none"]},{"type":"array","items":{"type":"string"}}],"description":"Hosts that fetch may reach: \"any\" (default), or a list such as [\"api.example.com\",\"*.example.org\"]; [] for none."},` +
		`"secrets":{"type":"array","items":{"type":"string"},"description":"Names of secrets that ctx.secret and ctx.hmac may use."},` +
		`"exec":{"type":"array","items":{"type":"string"},"description":"Names of commands that ctx.exec may run; the room must allow them too."},` +
		`"call":{"anyOf":[{"type":"string","enum":["any","none"]},{"type":"array","items":{"type":"string"}}],"description":"Tools that ctx.callTool may call: \"any\" (default) or a list of names."},` +
		`"files":{"type":"string","enum":["none","read","write"],"description":"Access to the workspace's files; follows from scope when left out."}}}`

	examplesField = `"examples":{"type":"array","description":"Tests that travel with the tool. They run before a version becomes current, without network, files, secrets and other tools; one that fails refuses the version.","items":{"type":"object","additionalProperties":false,"required":["name","args"],"properties":{` +
		`"name":{"type":"string","description":"What the example shows."},` +
		`"args":{"type":"object","description":"The arguments of the call."},` +
		`"result":{"description":"The value the call must return. Leave out to only require that it does not fail."},` +
		`"error":{"type":"string","description":"The error code the call must fail with, such as call_failed."}}}}`

	annotationsField = `"annotations":{"type":"object","additionalProperties":false,"description":"Hints for clients; the room never decides by them.","properties":{` +
		`"title":{"type":"string","description":"Name to show to people."},` +
		`"read_only":{"type":"boolean","description":"Changes nothing."},` +
		`"destructive":{"type":"boolean","description":"May destroy something."},` +
		`"idempotent":{"type":"boolean","description":"Calling twice is calling once."},` +
		`"open_world":{"type":"boolean","description":"Talks to the outside world."}}}`

	limitsField = `"limits":{"type":"object","additionalProperties":false,"description":"Budgets of one call; they may only be tighter than the room's.","properties":{` +
		`"timeout_ms":{"type":"integer","minimum":1,"description":"Wall clock, milliseconds."},` +
		`"memory_mb":{"type":"integer","minimum":1,"description":"Memory, MiB."},` +
		`"max_result_bytes":{"type":"integer","minimum":1,"description":"Size of the result as JSON, bytes."}}}`

	existingField = `"name":{"type":"string","description":"Name of the tool, as list_tools shows it."}`

	reasonField = `"reason":{"type":"string","description":"Why, in a few words; kept in the history."}`

	expectedField = `"expected_version":{"type":"string","description":"Id of the version you last read. When somebody changed the tool since, the answer is conflict and nothing changes."}`

	cursorField = `"cursor":{"type":"string","description":"next_cursor of the page before; leave out for the first page."}`

	argumentsField = `"arguments":{"type":"object","description":"The arguments, as the tool's own parameters schema wants them."}`

	ifExistsField = `"if_exists":{"type":"string","enum":["error","replace"],"default":"error","description":"What to do when the name is taken: refuse, or save a new version of that tool."}`

	enabledField = `"enabled":{"type":"boolean","description":"false keeps the tool but stops offering it; true offers it again. Not together with other changes."}`

	restoreField = `"restore_version":{"type":"string","description":"Id of an earlier version to make current again; also brings back a deleted tool. Not together with other changes."}`

	filterField = `"query":{"type":"string","description":"Only tools whose name or description contains this."}`

	includeFields = `"include_disabled":{"type":"boolean","default":false,"description":"Also list tools that are switched off."},` +
		`"include_deleted":{"type":"boolean","default":false,"description":"Also list deleted tools, which can be restored."}`

	readFields = `"provider":{"type":"string","enum":["anthropic","openai","openai-strict","gemini"],"description":"Also return the schema as it is sent to this provider, and what it would refuse or ignore."},` +
		`"version":{"type":"string","description":"Id of a version to read instead of the current one."},` +
		`"from_line":{"type":"integer","minimum":1,"description":"First line of the body to return: for bodies too long for one answer."},` +
		`"to_line":{"type":"integer","minimum":1,"description":"Last line of the body to return."},` +
		`"history":{"type":"boolean","default":false,"description":"Also return the versions, newest first, a page at a time."}`

	diffField = `"diff":{"type":"object","additionalProperties":false,"required":["from"],"description":"Also return what differs between two versions.","properties":{` +
		`"from":{"type":"string","description":"Id of the earlier version."},` +
		`"to":{"type":"string","description":"Id of the later version; the current one when left out."}}}`

	searchFields = `"query":{"type":"string","description":"Words to look for in names, descriptions and parameter names."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"How many to return."}`

	argsField = `"args":{"type":"object","description":"What the body finds as args; {} when left out."}`
)

const definitionFields = descriptionField + "," + parametersField + "," + outputSchemaField + "," + bodyField + "," + languageField + "," +
	runtimeField + "," + scopeField + "," + locationField + "," + grantField + "," + examplesField + "," + annotationsField + "," + limitsField
