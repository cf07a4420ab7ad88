package source

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"toolroom/tool"
)

// fenced recognises a body wrapped in a Markdown code fence. It must be seen
// before parsing: three backticks are an empty template and the start of
// another, so "```js\n…\n```" is a valid expression that does nothing.
func fenced(text string) *Problem {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(trimmed, "```") && !strings.HasPrefix(trimmed, "~~~") {
		return nil
	}
	return &Problem{
		Message: "the body is wrapped in a Markdown code fence",
		offset:  len(text) - len(trimmed), length: 3,
		hint: "Send the code alone, without the ``` lines around it.",
	}
}

// lint adds what the author should know about an accepted body.
func (c *Compiled) lint(text string, lang tool.Language) {
	if c.skip > 0 && !returns(text, lang) {
		c.noReturn = true
		c.warn("the body never returns a value", noReturnHint(text))
	}
	for _, name := range freeNames(text, lang, watched()) {
		hint := identifierHint(name)
		if module := moduleReplacement(required(text)); name == "require" && module != "" {
			hint = module
		}
		c.warn(fmt.Sprintf("%s is not available", name), hint)
	}
	if strings.Contains(string(c.Code), "import(") {
		c.warn("import() is not available", identifierHint("import"))
	}
}

func (c *Compiled) warn(message, hint string) {
	if hint != "" {
		message += ". " + hint
	}
	c.Warnings = append(c.Warnings, tool.Warning{About: "body", Message: message})
}

// returns says whether the body, and not only a function inside it, has a
// return statement: as the top level of a module it would be refused for it.
// When the parser gives up before it can tell, the answer is yes.
func returns(text string, lang tool.Language) bool {
	errs := transform(text+"\nexport {};", lang).Errors
	for _, m := range errs {
		if strings.HasPrefix(m.Text, "Top-level return") {
			return true
		}
	}
	return len(errs) > 0 && strings.Contains(text, "return")
}

// noReturnHint names the usual reasons for a body without return.
func noReturnHint(text string) string {
	body := strings.TrimSpace(text)
	switch {
	case regexp.MustCompile(`^(?:module\.)?exports\b`).MatchString(body):
		return identifierHint("module")
	case regexp.MustCompile(`^\(?\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*=>`).MatchString(body):
		return "It is only an arrow function that nothing calls: send the inside of that function, with return, or put export default before it."
	case namedOnly(body) || declaredOnly(body):
		return "It declares a function that nothing calls: send the inside of that function, or put export default before it, or end with return name(args, ctx);"
	}
	return "End with return and a JSON value."
}

// namedOnly says whether a body makes a function under a name, after whatever else, and never uses the name.
func namedOnly(body string) bool {
	made := regexp.MustCompile(`(?m)^(?:(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\b\s*)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)|(?:async\s+)?function\s*\*?\s*([\w$]+))`)
	for _, m := range made.FindAllStringSubmatch(body, -1) {
		if len(regexp.MustCompile(`(?:^|[^\w$.])`+regexp.QuoteMeta(m[1]+m[2])+`(?:$|[^\w$])`).FindAllString(body, 2)) < 2 {
			return true
		}
	}
	return false
}

// declaredOnly says whether a body begins with a function that it never calls.
func declaredOnly(body string) bool {
	m := regexp.MustCompile(`^\(?\s*(?:async\s+)?function\b\s*\*?\s*([\w$]*)`).FindStringSubmatch(body)
	return m != nil && (m[1] == "" || len(regexp.MustCompile(regexp.QuoteMeta(m[1])+`\s*\(`).FindAllString(body, 2)) < 2)
}

// freeNames are those of names that the body uses without declaring them. The
// parser replaces only free names by a mark, so strings, comments and
// properties do not count; nor does a name that is only asked for by typeof.
func freeNames(text string, lang tool.Language, names []string) []string {
	const mark = "__toolroom_free_"
	define := map[string]string{}
	for _, n := range names {
		if strings.Contains(text, n) {
			define[n] = mark + n + "_"
		}
	}
	if len(define) == 0 {
		return nil // setting up the replacement costs more than all the rest
	}
	r := api.Transform("async function execute(args, ctx) {\n"+text+"\n}", api.TransformOptions{
		Loader: loader(lang), Target: api.ES2023, LogLevel: api.LogLevelSilent, Define: define,
	})
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(typeof )?`+mark+`([\w$]+?)_\b`).FindAllSubmatch(r.Code, -1) {
		if len(m[1]) == 0 {
			found[string(m[2])] = true
		}
	}
	var out []string
	for n := range found {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
