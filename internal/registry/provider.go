package registry

import (
	"fmt"
	"unicode/utf8"

	"toolroom/tool"
)

const (
	// providerName is the longest name that every provider takes.
	providerName = 64
	// clientPrefix is what clients of MCP put before the names of a server's tools: mcp__toolroom__.
	clientPrefix = 15
	// openAIDescription is the most characters of a function's description that OpenAI takes.
	openAIDescription = 1024
)

// nameWarnings is what providers and clients would refuse about name and description. The
// rule for names is narrower than theirs, so only lengths are left.
func nameWarnings(d tool.Definition) (out []tool.Warning) {
	if n := len(d.Name); n > providerName-clientPrefix {
		out = append(out, tool.Warning{About: "name", Path: "name", Message: fmt.Sprintf(
			"it has %d characters. Providers take %d at most, and clients of MCP put a prefix such as mcp__toolroom__ before it: with more than %d some cannot offer the tool",
			n, providerName, providerName-clientPrefix)})
	}
	if n := utf8.RuneCountInString(d.Description); n > openAIDescription {
		for _, p := range []string{"openai", "openai-strict"} {
			out = append(out, tool.Warning{About: p, Path: "description", Message: fmt.Sprintf(
				"it has %d characters, and OpenAI refuses a function whose description has more than %d", n, openAIDescription)})
		}
	}
	return out
}
