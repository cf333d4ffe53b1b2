package clientcfg

import "regexp"

// A Safeguard is a restriction on tool calls in a client's file that import does not carry over.
type Safeguard struct {
	Where string `json:"where"`          // the key, or keys joined by dots
	Value string `json:"value"`          // value of the key
	Rule  string `json:"rule,omitempty"` // equivalent rule; empty: the client itself still enforces the restriction, on its own tools
}

// ruleFor returns the rule that refuses calls of a tool, or requires approval for them.
func ruleFor(tool string, deny bool) string {
	if deny {
		return "block " + tool
	}
	return "require human-approval before " + tool
}

// texts returns the strings in a list.
func texts(list []any) (all []string) {
	for _, v := range list {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// plainTool matches a tool name or pattern that can be written in a rule.
var plainTool = regexp.MustCompile(`^[A-Za-z0-9_.*?-]+$`)
