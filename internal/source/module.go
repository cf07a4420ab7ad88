package source

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"toolroom/tool"
)

// mentionsModule is a cheap "may be a module"; the parser decides.
func mentionsModule(text string) bool {
	return strings.Contains(text, "export") || strings.Contains(text, "import")
}

// aboutModule says whether a body that is neither form was meant as a module.
func aboutModule(text string, asFunction []Problem) bool {
	for _, p := range asFunction {
		if strings.Contains(p.Message, `"export"`) || strings.Contains(p.Message, `"import"`) {
			return true
		}
	}
	return importStatement(text) != nil || regexp.MustCompile(`(?m)^\s*export\s+(default|const|let|var|async|function|class|\{)`).MatchString(text)
}

// compileModule takes text as a module with one exported function. Its top level
// becomes the beginning of the call.
func compileModule(text string, lang tool.Language) (*Compiled, []Problem) {
	if p := importStatement(text); p != nil {
		return nil, []Problem{*p}
	}
	built := build(text, lang)
	if len(built.Errors) > 0 {
		return nil, moduleProblems(text, built.Errors)
	}
	var code, mapping []byte
	for _, f := range built.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			mapping = f.Contents
			continue
		}
		code = f.Contents
	}
	chunk, name, problem := cutExport(code)
	if problem == "" && !oneFunction(chunk) {
		problem = "the parser could not reduce the module to one function"
	}
	if problem != "" {
		return nil, []Problem{{Message: problem, offset: max(0, strings.Index(text, "export")), hint: moduleHint}}
	}
	return &Compiled{Code: encloseModule(chunk, name), Map: shiftMap(mapping)}, nil
}

const moduleHint = "Either write only the inside of async function execute(args, ctx), or export exactly one function: export default async function (args, ctx) { ... }"

// build prints a module with its exports gathered in one clause at the end. No
// import is followed, so it reads nothing but text.
func build(text string, lang tool.Language) api.BuildResult {
	return api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: text, Loader: loader(lang), Sourcefile: file},
		Bundle: true, Outfile: "/out.js", AbsWorkingDir: "/", Format: api.FormatESModule, Platform: api.PlatformNeutral,
		Target: api.ES2023, LogLevel: api.LogLevelSilent, TreeShaking: api.TreeShakingFalse,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		LegalComments: api.LegalCommentsNone, TsconfigRaw: tsconfig,
		Supported: map[string]bool{"import-meta": false},
		Plugins:   []api.Plugin{{Name: "no-imports", Setup: refuseImports}},
	})
}

func refuseImports(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		switch a.Kind {
		case api.ResolveJSDynamicImport, api.ResolveJSRequireCall, api.ResolveJSRequireResolve:
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		}
		text := fmt.Sprintf("a tool cannot import %q: it is one self-contained function", clip(a.Path, 100))
		return api.OnResolveResult{Errors: []api.Message{{Text: text}}}, nil
	})
}

// cutExport splits printed code into what comes before its export clause and
// the name of the one thing exported, or says why it cannot. The clause is the
// last statement, so the last "\nexport {" begins it.
func cutExport(code []byte) (chunk []byte, name, problem string) {
	at := bytes.LastIndex(code, []byte("\nexport {"))
	if at < 0 {
		return nil, "", "the module exports nothing"
	}
	chunk, clause := code[:at+1], string(code[at+1:])
	clause = strings.TrimSuffix(strings.TrimPrefix(clause, "export {\n"), "\n};\n")
	if n := strings.Count(clause, ",\n") + 1; n > 1 {
		return nil, "", fmt.Sprintf("the module has %d exports; a tool is exactly one exported function", n)
	}
	m := regexp.MustCompile(`^  ([\pL_$][\pL\pN_$]*)(?: as [\pL_$][\pL\pN_$]*)?$`).FindStringSubmatch(clause)
	if m == nil {
		return nil, "", "the export has a name that is not an identifier"
	}
	if notFunction(chunk, m[1]) {
		return nil, "", "the export of the module is not a function"
	}
	return chunk, m[1], ""
}

// notFunction recognises the exports that are plainly something else. Whatever
// it misses throws when it is called.
func notFunction(chunk []byte, name string) bool {
	re := regexp.MustCompile(`(?m)^(?:(?:var|let|const) ` + regexp.QuoteMeta(name) + ` = (?:[\[{"0-9` + "`" + `]|new |null\b|true\b|false\b|class\b|void )|class ` + regexp.QuoteMeta(name) + `\b)`)
	return re.Match(chunk)
}

// oneFunction proves that chunk stays inside a function, as for the first form.
func oneFunction(chunk []byte) bool {
	label := "L" + rand.Text()
	proof := transform("async () => { \"use strict\"; "+label+": {\n"+string(chunk)+"\nbreak "+label+"; } }", tool.JavaScript)
	return len(proof.Errors) == 0
}

func encloseModule(chunk []byte, name string) []byte {
	var b bytes.Buffer
	b.WriteString(`(async function execute() { const ` + given + ` = await (async () => { "use strict";` + "\n")
	b.Write(chunk)
	b.WriteString("return " + name + "; })();\n")
	b.WriteString(`if (typeof ` + given + ` !== "function") throw new TypeError("the export of the module is not a function");` + "\n")
	b.WriteString("return " + given + ".apply(void 0, arguments); })\n")
	return b.Bytes()
}

// importStatement finds the first line that begins with a static import. An
// import of types is left to the parser, which takes it out.
func importStatement(text string) *Problem {
	at := regexp.MustCompile(`(?m)^[ \t]*import(?:\s+[\w$*{"']|\s*[{*"'])[^\n]*`).FindStringIndex(text)
	if at == nil {
		return nil
	}
	found := strings.TrimLeft(text[at[0]:at[1]], " \t")
	if strings.HasPrefix(found, "import type ") {
		return nil
	}
	p := &Problem{Message: `"import" is not available: a tool is one self-contained function`, offset: at[1] - len(found)}
	if m := regexp.MustCompile(`["']([^"']+)["']\s*;?\s*$`).FindStringSubmatch(found); m != nil {
		p.hint = moduleReplacement(m[1])
	}
	if p.hint == "" {
		p.hint = "Remove the import; fetch, crypto, URL, TextEncoder and the rest of the web platform are global. Inline the code you need."
	}
	return p
}
