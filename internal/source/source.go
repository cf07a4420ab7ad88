// Package source turns the body of a tool into JavaScript that the engine takes.
//
//	body ──trim, bound──▶ one function? ──▶ code + source map ──▶ warnings
//	                            │
//	                            └── no: an ES module with one exported function? ──▶ …
//
// A body is either the inside of `async function execute(args, ctx)`, which runs
// in sloppy mode unless it says "use strict", or an ES module with exactly one
// exported function, which runs in strict mode. Nothing of either runs before
// the function is called: the top level of a module runs at the start of each
// call, under the call's budget.
//
// That a body is one function is proved, not assumed: it is parsed as
//
//	async function execute(args, ctx) { L: {
//	BODY
//	break L; } }
//
// with a label L that the author cannot know. `break L` is only legal inside the
// labelled block and in the same function, so a body that closes either one does
// not parse, however it tries. The same parser prints the code, so what was
// proved is what runs.
//
// Everything here is a pure function of the text. All of it may be called
// concurrently.
package source

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"toolroom/tool"
)

// MaxBody is the largest body that is accepted, in bytes.
const MaxBody = 64 << 10

// form is part of every Key: raise it when the same body would give other code.
const form = "1"

// Compiled is a body the engine can run. It holds no resources and no syntax
// tree, so a cache may keep many. It is never changed after Compile and may be
// used concurrently.
type Compiled struct {
	// Code is a script whose value is the async function (args, ctx). It
	// evaluates without running anything of the author's.
	Code []byte
	// Map is the source map (version 3) from Code to the body as it was
	// compiled: for the first form the body begins at the second line.
	Map []byte
	// Warnings is what the author should know although the body is accepted.
	Warnings []tool.Warning

	skip     int      // lines before the body's first in the text that was compiled
	lines    []string // the body's lines
	noReturn bool     // nothing in the body returns a value
}

// Key names the code that Compile gives for a body: equal keys mean equal code.
func Key(body string, lang tool.Language) string {
	sum := sha256.Sum256([]byte(form + "\x00" + string(language(lang)) + "\x00" + body))
	return hex.EncodeToString(sum[:])
}

// Compile proves that body is one function and gives the code for it. The error
// is a *tool.Error: syntax_error with Details of type Report, body_too_large,
// or invalid_definition.
func Compile(body string, lang tool.Language) (*Compiled, error) {
	lang = language(lang)
	text, err := acceptable(body, lang)
	if err != nil {
		return nil, err
	}
	out, problems := compileFunction(text, lang)
	if problems != nil && mentionsModule(text) {
		module, worse := compileModule(text, lang)
		if worse == nil {
			out, problems = module, nil
		} else if aboutModule(text, problems) {
			problems = worse
		}
	}
	if problems != nil {
		return nil, refuse(text, problems)
	}
	out.lines = lines(text)
	out.lint(text, lang)
	return out, nil
}

func language(lang tool.Language) tool.Language {
	if lang == "" {
		return tool.JavaScript
	}
	return lang
}

// acceptable checks what needs no parser, and everything the parser must be
// spared: it returns the body without its byte order mark.
func acceptable(body string, lang tool.Language) (string, error) {
	if lang != tool.JavaScript && lang != tool.TypeScript {
		return "", tool.Errorf(tool.InvalidDefinition, "language %q is unknown", clip(string(lang), 40)).
			WithHint(`Use "javascript" or "typescript".`)
	}
	if len(body) > MaxBody {
		return "", tool.Errorf(tool.BodyTooLarge, "the body has %d bytes; at most %d are allowed", len(body), MaxBody).
			WithHint("Split it into several tools that use ctx.callTool, or keep data in a file or behind a URL.")
	}
	text := strings.TrimPrefix(body, "\ufeff")
	if at := invalidUTF8(text); at >= 0 {
		return "", refuse(strings.ToValidUTF8(text[:at], ""), []Problem{{Message: "the body is not valid UTF-8 from here on", offset: at}})
	}
	if strings.TrimSpace(text) == "" {
		return "", tool.Errorf(tool.InvalidDefinition, "the body is empty").
			WithHint("Write the inside of async function execute(args, ctx): at the least `return null;`.")
	}
	if p := fenced(text); p != nil {
		return "", refuse(text, []Problem{*p})
	}
	if p := tooDeep(text, lang); p != nil {
		return "", refuse(text, []Problem{*p})
	}
	return text, nil
}

func invalidUTF8(s string) int {
	for at := 0; at < len(s); {
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// clip bounds a text that is quoted in a message.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "..."
}
