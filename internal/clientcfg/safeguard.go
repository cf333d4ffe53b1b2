package clientcfg

import "regexp"

// A Safeguard is a restriction on tool calls in a client's file that petrigate import does not
// carry over.
type Safeguard struct {
	Where string `json:"where"`          // the restriction's key in the file, or several keys joined by dots
	Value string `json:"value"`          // value of the key
	Rule  string `json:"rule,omitempty"` // equivalent rule; empty: the client itself continues to enforce the restriction on its own tools
}

// ruleFor returns a rule that refuses calls of the tool or, if deny is false, requires approval for
// them.
func ruleFor(tool string, deny bool) string {
	if deny {
		return "block " + tool
	}
	return "require human-approval before " + tool
}

// texts returns the elements of list that are strings.
func texts(list []any) (all []string) {
	for _, v := range list {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// plainTool matches the tool names and patterns that can be used in rules.
var plainTool = regexp.MustCompile(`^[A-Za-z0-9_.*?-]+$`)
