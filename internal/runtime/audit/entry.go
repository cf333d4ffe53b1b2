package audit

import (
	"slices"
	"strings"
)

// An Entry is a decoded record of any event type. Members that several event types have in common
// are decoded into one field.
type Entry struct {
	Decision
	Outcome string  `json:"outcome"`
	Millis  float64 `json:"ms"`
	By      string  `json:"by"`
	Net     string  `json:"net"`     // net named in a switch event
	Process string  `json:"process"` // process named in a start, end, policy or session event
	Driver  string  `json:"driver"`
	Task    string  `json:"task"`
	Said    string  `json:"said"` // "approve" or "deny"; set only in a rejected answer

	// The following fields are set only for policy events.
	Active  []string `json:"active"`
	Fields  []string `json:"fields"`
	Results []string `json:"results"`
	Maps    []string `json:"maps"`
	Actions []string `json:"actions"`
}

// fields returns pointers to the fields after Decision, in the order that a [table] requires.
func (e *Entry) fields() [13]any {
	return [...]any{
		&e.Outcome, &e.Millis, &e.By, &e.Net, &e.Process, &e.Driver, &e.Task, &e.Said,
		&e.Active, &e.Fields, &e.Results, &e.Maps, &e.Actions,
	}
}

// Canonical returns the qualified name of the tool, which starts with the upstream's name.
func (e *Entry) Canonical() string { return Canonical(e.Upstream, e.Tool) }

// Canonical returns the tool's name prefixed with the upstream's name, unless it has that prefix
// already.
func Canonical(upstream, tool string) string {
	if upstream == "" || strings.HasPrefix(tool, upstream+".") {
		return tool
	}
	return upstream + "." + tool
}

// IsCall reports whether the record is about a single call.
func (e *Entry) IsCall() bool {
	switch e.Event {
	case "decision", "outcome", "task", "left", "missing":
		return true
	}
	return false
}

// IsRoutine reports whether the record marks the start or end of a process, session or file.
func (e *Entry) IsRoutine() bool {
	switch e.Event {
	case "session opened", "session closed", "end", "closed", "continued":
		return true
	case "start": // an operator's "start" command is also recorded as a "start" event, but without a process
		return e.Process != ""
	}
	return false
}

// IsOf reports whether the record is about a tool or call with the given name. The name can be the
// tool's plain or qualified name, or another recorded name of the call.
func (e *Entry) IsOf(tool string) bool {
	if e.Event == "outcome" { // an outcome has only the qualified name
		return e.Tool == tool || strings.HasSuffix(e.Tool, "."+tool)
	}
	return e.Tool == tool || e.Upstream+"."+e.Tool == tool || slices.Contains(e.Names, tool)
}

// Says reports whether the record is about the net or contains its verdict.
func (e *Entry) Says(net string) bool {
	return e.Net == net || slices.ContainsFunc(e.Nets, func(n NetVerdict) bool { return n.Net == net })
}
