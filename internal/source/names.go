package source

import (
	"slices"
	"strings"
)

// This file is data: what to write instead of a name or a module that a tool does not have.

// advice is what to write instead of some names, which are given with spaces between them.
type advice struct{ names, hint string }

// lookUp is the advice for a name, or "".
func lookUp(table []advice, name string) string {
	for _, a := range table {
		if slices.Contains(strings.Fields(a.names), name) {
			return a.hint
		}
	}
	return ""
}

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
	if hint := lookUp(slices.Concat(nodeNames(), browserNames(), libraryNames(), parameterNames()), name); hint != "" {
		return hint
	}
	if slices.Contains(strings.Fields(ctxNames), name) {
		return "Write ctx." + name + "."
	}
	if bare, ok := strings.CutPrefix(name, "$"); ok && bare != "" {
		return "Arguments are not $variables: write args." + bare + "."
	}
	return ""
}

// ctxNames are written as if they were global.
const ctxNames = "callTool fetchJson readText writeText appendText listFiles readBytes writeBytes exec secret hmac progress log"

// nodeNames are what Node, Deno and build tools have.
func nodeNames() []advice {
	return []advice{
		{"require", "There are no modules: fetch, crypto, URL, TextEncoder, atob and btoa are global, files are ctx.readText and ctx.writeText. Inline any other code."},
		{"import", "There are no modules: fetch, crypto, URL and the rest of the web platform are global. Inline any other code."},
		{"module exports", "Do not export: write only the inside of the function and return the value, or use export default async function (args, ctx) { ... }."},
		{"process", "Values that the operator hands in are in env.vars; secrets come from ctx.secret(name)."},
		{"Buffer", "Use btoa and atob for base64, TextEncoder and TextDecoder for text, Uint8Array for bytes."},
		{"__dirname __filename", "A tool is not a file. Paths given to ctx.readText and ctx.writeText are relative to the workspace."},
		{"global", "Use globalThis."},
		{"setImmediate", "Use setTimeout(f, 0) or queueMicrotask(f)."},
		{"jest describe test expect", "Tests of a tool are its examples, a field beside the body."},
		{"fs path std os Deno Bun child_process", "Files are ctx.readText, ctx.writeText and ctx.listFiles, for tools of scope workspace; commands are ctx.exec, where the operator allows them."},
		{"importScripts Worker", "A tool is one function without workers; ctx.callTool calls another tool."},
	}
}

// browserNames are what a page has.
func browserNames() []advice {
	return []advice{
		{"window document localStorage sessionStorage navigator location DOMParser", "There is no page and no browser here. Parse text with string methods or regular expressions; keep state in files of the workspace."},
		{"alert prompt confirm", "Nobody can be asked during a call: take the value as an argument, or return a message."},
	}
}

// libraryNames are libraries.
func libraryNames() []advice {
	return []advice{
		{"axios got superagent ky XMLHttpRequest $http request $fetch", "Use fetch(url, options), or ctx.fetchJson(url, {method, headers, query, body}), which checks the status and parses."},
		{"DateTime moment dayjs luxon dateFns", "Use Date and Intl.DateTimeFormat."},
		{"_ lodash", "Use the methods of Array and Object: map, filter, Object.groupBy, Object.entries, structuredClone."},
		{"cheerio jsdom JSDOM puppeteer playwright", "There is no HTML parser: use regular expressions, or a service that answers with JSON."},
		{"uuid uuidv4 nanoid", "Use crypto.randomUUID()."},
		{"CryptoJS createHash createHmac md5", "Use crypto.subtle.digest and crypto.subtle.sign; ctx.hmac signs with a secret. MD5 is not available."},
	}
}

// parameterNames are what the parameters of other functions are called.
func parameterNames() []advice {
	return []advice{
		{"$input $json items input inputs event payload params_ arguments_ data body req", "The arguments are in args: args.name, or const { name } = args."},
		{"res response callback cb next", "Answer by returning a JSON value."},
		{"context", "The second parameter is called ctx."},
		{"helpers $helpers", "The helpers are on ctx: ctx.fetchJson, ctx.readText, ctx.callTool and so on."},
	}
}

// moduleReplacement is what stands in for a module, or "".
func moduleReplacement(module string) string {
	module = strings.TrimPrefix(module, "node:")
	if hint := lookUp(goneModules(), module); hint != "" {
		return hint
	}
	return identifierHint(lookUp(modulesLikeNames(), module))
}

// goneModules are not needed here, or have a replacement of their own.
func goneModules() []advice {
	return []advice{
		{"node-fetch undici cross-fetch isomorphic-fetch http https", "Remove it: fetch is already global."},
		{"crypto crypto-js md5", "Remove it: crypto.subtle, crypto.randomUUID and crypto.getRandomValues are already global; ctx.hmac signs with a secret."},
		{"child_process", "Use ctx.exec(command, args), where the operator allows the command."},
		{"url querystring whatwg-url", "Remove it: URL and URLSearchParams are already global."},
		{"util text-encoding", "Remove it: TextEncoder, TextDecoder and structuredClone are already global."},
		{"zlib", "Remove it: CompressionStream and DecompressionStream are already global."},
		{"timers timers/promises", "Remove it: setTimeout is already global; await new Promise(r => setTimeout(r, ms))."},
		{"form-data", "Remove it: FormData, Blob and File are already global."},
		{"zod joi ajv", "Remove it: the schema in parameters is checked before the body runs."},
	}
}

// modulesLikeNames are the modules for which the advice for a name holds, which stands in place of a hint.
func modulesLikeNames() []advice {
	return []advice{
		{"axios got superagent ky request", "axios"},
		{"fs fs/promises fs-extra path", "fs"},
		{"buffer", "Buffer"},
		{"process dotenv", "process"},
		{"uuid nanoid", "uuid"},
		{"lodash underscore ramda", "lodash"},
		{"moment luxon dayjs date-fns", "moment"},
		{"cheerio jsdom puppeteer playwright", "cheerio"},
	}
}
