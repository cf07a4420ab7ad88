package source

import (
	"regexp"
	"strings"
)

// This file is data: what to write instead of what a tool does not have.

// watched are the names whose use is told when a body is saved.
func watched() []string {
	return []string{
		"require", "module", "exports", "process", "Buffer", "__dirname", "__filename", "global", "axios", "XMLHttpRequest",
		"window", "document", "localStorage", "sessionStorage", "alert", "prompt", "DateTime", "moment", "dayjs", "lodash",
		"setImmediate", "importScripts", "Deno", "Bun", "$input", "$json", "$http", "std", "os",
	}
}

// identifierHint is what to write instead of a name that does not exist, or "".
func identifierHint(name string) string {
	switch name {
	case "require":
		return "There are no modules: fetch, crypto, URL, TextEncoder, atob and btoa are global, files are ctx.readText and ctx.writeText. Inline any other code."
	case "import":
		return "There are no modules: fetch, crypto, URL and the rest of the web platform are global. Inline any other code."
	case "module", "exports":
		return "Do not export: write only the inside of the function and return the value, or use export default async function (args, ctx) { ... }."
	case "process":
		return "Values that the operator hands in are in env.vars; secrets come from ctx.secret(name)."
	case "Buffer":
		return "Use btoa and atob for base64, TextEncoder and TextDecoder for text, Uint8Array for bytes."
	case "__dirname", "__filename":
		return "A tool is not a file. Paths given to ctx.readText and ctx.writeText are relative to the workspace."
	case "global":
		return "Use globalThis."
	case "window", "document", "localStorage", "sessionStorage", "navigator", "location", "DOMParser":
		return "There is no page and no browser here. Parse text with string methods or regular expressions; keep state in files of the workspace."
	case "alert", "prompt", "confirm":
		return "Nobody can be asked during a call: take the value as an argument, or return a message."
	case "axios", "got", "superagent", "ky", "XMLHttpRequest", "$http", "request", "$fetch":
		return "Use fetch(url, options), or ctx.fetchJson(url, {method, headers, query, body}), which checks the status and parses."
	case "DateTime", "moment", "dayjs", "luxon", "dateFns":
		return "Use Date and Intl.DateTimeFormat."
	case "_", "lodash":
		return "Use the methods of Array and Object: map, filter, Object.groupBy, Object.entries, structuredClone."
	case "setImmediate":
		return "Use setTimeout(f, 0) or queueMicrotask(f)."
	case "jest", "describe", "test", "expect":
		return "Tests of a tool are its examples, a field beside the body."
	case "$input", "$json", "items", "input", "inputs", "event", "payload", "params_", "arguments_", "data", "body", "req":
		return "The arguments are in args: args.name, or const { name } = args."
	case "res", "response", "callback", "cb", "next":
		return "Answer by returning a JSON value."
	case "context":
		return "The second parameter is called ctx."
	case "helpers", "$helpers":
		return "The helpers are on ctx: ctx.fetchJson, ctx.readText, ctx.callTool and so on."
	case "cheerio", "jsdom", "JSDOM", "puppeteer", "playwright":
		return "There is no HTML parser: use regular expressions, or a service that answers with JSON."
	case "fs", "path", "std", "os", "Deno", "Bun", "child_process":
		return "Files are ctx.readText, ctx.writeText and ctx.listFiles, for tools of scope workspace; commands are ctx.exec, where the operator allows them."
	case "uuid", "uuidv4", "nanoid":
		return "Use crypto.randomUUID()."
	case "CryptoJS", "createHash", "createHmac", "md5":
		return "Use crypto.subtle.digest and crypto.subtle.sign; ctx.hmac signs with a secret. MD5 is not available."
	case "importScripts", "Worker":
		return "A tool is one function without workers; ctx.callTool calls another tool."
	case "callTool", "fetchJson", "readText", "writeText", "appendText", "listFiles", "readBytes", "writeBytes", "exec", "secret", "hmac", "progress", "log":
		return "Write ctx." + name + "."
	}
	if bare, ok := strings.CutPrefix(name, "$"); ok && bare != "" {
		return "Arguments are not $variables: write args." + bare + "."
	}
	return ""
}

// moduleReplacement is what stands in for a module, or "".
func moduleReplacement(module string) string {
	switch strings.TrimPrefix(module, "node:") {
	case "node-fetch", "undici", "cross-fetch", "isomorphic-fetch", "http", "https":
		return "Remove it: fetch is already global."
	case "axios", "got", "superagent", "ky", "request":
		return identifierHint("axios")
	case "crypto", "crypto-js", "md5":
		return "Remove it: crypto.subtle, crypto.randomUUID and crypto.getRandomValues are already global; ctx.hmac signs with a secret."
	case "fs", "fs/promises", "fs-extra", "path":
		return identifierHint("fs")
	case "child_process":
		return "Use ctx.exec(command, args), where the operator allows the command."
	case "buffer":
		return identifierHint("Buffer")
	case "process", "dotenv":
		return identifierHint("process")
	case "url", "querystring", "whatwg-url":
		return "Remove it: URL and URLSearchParams are already global."
	case "util", "text-encoding":
		return "Remove it: TextEncoder, TextDecoder and structuredClone are already global."
	case "zlib":
		return "Remove it: CompressionStream and DecompressionStream are already global."
	case "timers", "timers/promises":
		return "Remove it: setTimeout is already global; await new Promise(r => setTimeout(r, ms))."
	case "uuid", "nanoid":
		return identifierHint("uuid")
	case "lodash", "underscore", "ramda":
		return identifierHint("lodash")
	case "moment", "luxon", "dayjs", "date-fns":
		return identifierHint("moment")
	case "cheerio", "jsdom", "puppeteer", "playwright":
		return identifierHint("cheerio")
	case "form-data":
		return "Remove it: FormData, Blob and File are already global."
	case "zod", "joi", "ajv":
		return "Remove it: the schema in parameters is checked before the body runs."
	}
	return ""
}

// problemHint is the next step after a refused body, by what the parser said.
func problemHint(text, message string) string {
	switch {
	case strings.Contains(message, `"await" can only be used`):
		return "Make the callback async, or use for (const x of list) { await ... }; forEach does not wait."
	case strings.HasPrefix(strings.TrimSpace(text), "#!"):
		return "Remove the #! line: a body is the inside of a function."
	case regexp.MustCompile("(?m)^\\s*```").MatchString(text):
		return "Send the code alone, without prose and without the ``` lines around it."
	case strings.Contains(message, `"args" has already been declared`), strings.Contains(message, `"ctx" has already been declared`):
		return "args and ctx are the parameters of the function already: use them, or choose another name."
	case strings.Contains(message, "JSX"):
		return "JSX is not available; build strings with templates. TypeScript generics on arrows need language: typescript."
	case looksLikeTypeScript(message, text):
		return `If this is TypeScript, set language to "typescript".`
	case regexp.MustCompile(`\{\{[^{}]*\}\}`).MatchString(text):
		return "{{name}} is not replaced: read arguments from args, operator values from env.vars."
	case regexp.MustCompile(`(?m)^\s*(?:def |import \w+$|from \w+ import )`).MatchString(text):
		return "A body is JavaScript or TypeScript, not Python."
	}
	return ""
}

func looksLikeTypeScript(message, text string) bool {
	return regexp.MustCompile(`found ":"|found "as"|found "!"|Unexpected "(?:interface|enum)"|found "[A-Z]\w*"`).MatchString(message) &&
		regexp.MustCompile(`(?m)^\s*(?:interface|type|enum)\s+\w+|\bas (?:const|\w+)|[\w)\]]\s*:\s*(?:string|number|boolean|any|unknown|Record|Array|[A-Z]\w*)`).MatchString(text)
}

// thrownHint is the next step after what a body threw, by its message.
func thrownHint(name, message string) string {
	if m := regexp.MustCompile(`^'?([\w$]+)'? is not defined`).FindStringSubmatch(message); m != nil && name == "ReferenceError" {
		return identifierHint(m[1])
	}
	if m := regexp.MustCompile(`(?:Dynamic require of|could not load module|[Cc]annot (?:find|load) module) ["']([^"']+)["']`).FindStringSubmatch(message); m != nil {
		if hint := moduleReplacement(m[1]); hint != "" {
			return hint
		}
		return identifierHint("import")
	}
	switch {
	case strings.Contains(message, "dynamic import") || strings.Contains(message, "import()"):
		return identifierHint("import")
	case name == "SyntaxError" && regexp.MustCompile(`unexpected token: '?<|JSON.*'?<`).MatchString(message):
		return "The text starts with < and is likely HTML, not JSON: check response.ok and the content type before parsing, or use ctx.fetchJson."
	case name == "SyntaxError" && strings.Contains(message, "JSON"):
		return "The text is not JSON: look at it with console.log(text) before JSON.parse. A value from await response.json() is parsed already."
	case regexp.MustCompile(`(?:'then'|'json'|'text'|'ok'|'status')`).MatchString(message) && name == "TypeError":
		return "Is an await missing? fetch(...) and response.json() give promises."
	case name == "TypeError" && strings.HasSuffix(message, "not a function"):
		return "The value before the parentheses is not a function: a missing await, a misspelt method, or a name that was shadowed by const."
	case name == "TypeError" && regexp.MustCompile(`(?:of|property) (?:'[^']*' of )?(?:undefined|null)|(?:undefined|null) \(reading`).MatchString(message):
		return "Something is undefined or null there: check the shape of the data with console.log, use ?. and ??."
	case strings.Contains(message, "is read-only"):
		return "A const cannot be assigned again: use let."
	case name == "RangeError" && strings.Contains(message, "call stack"), strings.Contains(message, "stack overflow"):
		return "The recursion does not end, or is too deep: use a loop."
	}
	return ""
}
