package clientcfg

import "regexp"

// A Safeguard is a restriction on tool calls that a client's file contains and that petrigate
// import does not carry over.
type Safeguard struct {
	Where string `json:"where"`          // key in the file, or several keys joined by dots
	Value string `json:"value"`          // value of the key
	Rule  string `json:"rule,omitempty"` // equivalent rule; empty if the restriction does not apply to any imported server, or if the client's file cannot be read
}

// RuleFor returns a rule that refuses calls to the tool or, if deny is false, requires approval for
// them.
func RuleFor(tool string, deny bool) string {
	if deny {
		return "block " + tool
	}
	return "require human-approval before " + tool
}

var plainTool = regexp.MustCompile(`^[A-Za-z0-9_.*?-]+$`)

// IsPlainTool reports whether a tool name or pattern can be used in rules.
func IsPlainTool(name string) bool { return plainTool.MatchString(name) }
