package source

import (
	"regexp"
	"strings"
)

// This file is data: the next step after what the parser or a body said.

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
