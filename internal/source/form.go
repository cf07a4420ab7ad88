package source

import (
	"bytes"
	"crypto/rand"

	"github.com/evanw/esbuild/pkg/api"

	"toolroom/tool"
)

// file is the name the parser knows a body by. It appears in source maps and,
// as the name of an anonymous default export, in stacks.
const file = "tool"

func loader(lang tool.Language) api.Loader {
	if lang == tool.TypeScript {
		return api.LoaderTS
	}
	return api.LoaderJS
}

// tsconfig keeps imports that TypeScript would drop as unused, so that every one is refused.
const tsconfig = `{"compilerOptions":{"verbatimModuleSyntax":true}}`

func transform(text string, lang tool.Language) api.TransformResult {
	return api.Transform(text, api.TransformOptions{
		Loader: loader(lang), Target: api.ES2023, Sourcefile: file, LogLevel: api.LogLevelSilent,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		LegalComments: api.LegalCommentsNone, TsconfigRaw: tsconfig,
	})
}

// compileFunction takes text as the inside of a function. The wrapper ends with
// a newline so that columns of the first line are the author's.
func compileFunction(text string, lang tool.Language) (*Compiled, []Problem) {
	label := "L" + rand.Text()
	prefix := "async function execute(args, ctx) { " + label + ": {\n"
	proof := transform(prefix+text+"\nbreak "+label+"; } }", lang)
	if len(proof.Errors) > 0 {
		return nil, functionProblems(text, lang, label, proof.Errors)
	}
	done := transform("give_"+label+"(async function execute(args, ctx) {\n"+text+"\n});", lang)
	if len(done.Errors) > 0 {
		return nil, functionProblems(text, lang, label, done.Errors)
	}
	code, ok := enclose(done.Code, "give_"+label)
	if !ok {
		return nil, []Problem{{Message: "the parser could not reduce the body to one function"}}
	}
	return &Compiled{Code: code, Map: shiftMap(done.Map), skip: 1}, nil
}

// given is the name the code uses for the author's function. A body that knows
// it reaches nothing it does not have already.
const given = "__toolroom_body"

// enclose makes an expression of printed code whose one statement hands the
// function to give. Helpers that lowering put before it stay inside. The random
// name goes, so that equal bodies give equal code.
func enclose(printed []byte, give string) ([]byte, bool) {
	if bytes.Count(printed, []byte(give)) != 1 {
		return nil, false
	}
	var b bytes.Buffer
	b.WriteString("(() => { let " + given + ";\n")
	b.Write(bytes.Replace(printed, []byte(give+"("), []byte(given+" = ("), 1))
	b.WriteString("return " + given + "; })()\n")
	return b.Bytes(), true
}

// shiftMap moves a source map one line down: one ";" is one line.
func shiftMap(m []byte) []byte {
	return bytes.Replace(m, []byte(`"mappings": "`), []byte(`"mappings": ";`), 1)
}
