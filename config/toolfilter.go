package config

import (
	"fmt"
	"strings"
	"unicode"
)

// A ToolFilter selects some of a server's tools by patterns, which are matched against the server's
// own tool names. Deny takes precedence over Allow. If Allow is empty, all tools are allowed.
type ToolFilter struct {
	Allow []string
	Deny  []string
}

func readToolFilter(v Value) (f ToolFilter, ok bool) {
	v.Fields(Keys{"allow": into(&f.Allow, listOf(checked(checkToolPattern))), "deny": into(&f.Deny, listOf(checked(checkToolPattern)))})
	if v.kind == mapKind && len(v.fields) == 0 {
		v.faultAt(v.key, v.what+" is empty", "write allow or deny, or omit it")
	}
	if allow := v.get("allow"); allow != nil && allow.kind == listKind && len(allow.items) == 0 {
		v.faultAt(allow, `"allow" is empty, so no tool can be called`, `write disabled: true to turn a server off`)
	}
	return f, true
}

// checkToolPattern rejects a pattern that cannot match any tool name.
func checkToolPattern(key, quoted, text string) (msg, hint string) {
	strange := func(r rune) bool {
		return r >= 0x80 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-*?", r))
	}
	switch {
	case text == "":
		return fmt.Sprintf("%s: %s is empty", key, quoted), ""
	case strings.ContainsFunc(text, strange):
		return fmt.Sprintf("%s: %s matches no tool: tool names consist of A-Z a-z 0-9 _ . / -", key, quoted), "in a pattern, * matches any characters, and ? matches one"
	}
	return "", ""
}
