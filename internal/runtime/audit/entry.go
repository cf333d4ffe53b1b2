package audit

import (
	"slices"
	"strings"
)

// An Entry is a decoded record of any event type. A member that several event types share has only
// one field.
type Entry struct {
	Decision
	Outcome string  `json:"outcome"`
	Millis  float64 `json:"ms"`
	By      string  `json:"by"`
	Net     string  `json:"net"`     // the net that a switch event concerns
	Process string  `json:"process"` // the process that a start, end, policy or session event concerns
	Driver  string  `json:"driver"`
	Task    string  `json:"task"`
	Said    string  `json:"said"` // a person's answer that did not count

	// The following fields belong to policy events.
	Active  []string `json:"active"`
	Fields  []string `json:"fields"`
	Results []string `json:"results"`
	Maps    []string `json:"maps"`
	Actions []string `json:"actions"`
}

// fields returns the addresses of the fields that follow Decision, in order.
func (e *Entry) fields() [13]any {
	return [...]any{
		&e.Outcome, &e.Millis, &e.By, &e.Net, &e.Process, &e.Driver, &e.Task, &e.Said,
		&e.Active, &e.Fields, &e.Results, &e.Maps, &e.Actions,
	}
}

// Canonical returns the qualified name of the record's tool, which includes the upstream's name.
func (e *Entry) Canonical() string { return Canonical(e.Upstream, e.Tool) }

// Canonical puts the upstream's name before a tool name, unless the tool name already has that
// prefix.
func Canonical(upstream, tool string) string {
	if upstream == "" || strings.HasPrefix(tool, upstream+".") {
		return tool
	}
	return upstream + "." + tool
}

// IsCall reports whether the record concerns one call.
func (e *Entry) IsCall() bool {
	switch e.Event {
	case "decision", "outcome", "task", "left", "missing":
		return true
	}
	return false
}

// IsRoutine reports whether the record is the start or end of a process, session or file.
func (e *Entry) IsRoutine() bool {
	switch e.Event {
	case "session opened", "session closed", "end", "closed", "continued":
		return true
	case "start": // the record of an operator's "start" command has no process
		return e.Process != ""
	}
	return false
}

// IsOf reports whether the record concerns the given tool. The tool may be given by its plain or
// qualified name, or by another name of the call.
func (e *Entry) IsOf(tool string) bool {
	return e.Tool == tool || e.Upstream+"."+e.Tool == tool || slices.Contains(e.Names, tool)
}

// Says reports whether the record contains a verdict from the given net, or concerns the net
// itself.
func (e *Entry) Says(net string) bool {
	return e.Net == net || slices.ContainsFunc(e.Nets, func(n NetVerdict) bool { return n.Net == net })
}
