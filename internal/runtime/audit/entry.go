package audit

import "strings"

// An Entry is a record as a reader sees it: it has the members of all events. A member that
// several events have stands here once.
type Entry struct {
	Decision
	Outcome string  `json:"outcome"`
	Millis  float64 `json:"ms"`
	By      string  `json:"by"`
	Net     string  `json:"net"`     // of a switch
	Process string  `json:"process"` // of a start, an end, a policy, a session
	Driver  string  `json:"driver"`
	Task    string  `json:"task"`
	Said    string  `json:"said"` // by a person whose answer does not count

	// of a policy
	Active  []string `json:"active"`
	Fields  []string `json:"fields"`
	Results []string `json:"results"`
	Maps    []string `json:"maps"`
	Actions []string `json:"actions"`
}

// fields returns the addresses of the fields behind the decision, in their order.
func (e *Entry) fields() [13]any {
	return [...]any{
		&e.Outcome, &e.Millis, &e.By, &e.Net, &e.Process, &e.Driver, &e.Task, &e.Said,
		&e.Active, &e.Fields, &e.Results, &e.Maps, &e.Actions,
	}
}

// Canonical returns the name of the record's tool with its upstream.
func (e *Entry) Canonical() string { return Canonical(e.Upstream, e.Tool) }

// Canonical returns the name of a tool with its upstream, whether or not the tool's own name
// begins with that.
func Canonical(upstream, tool string) string {
	if upstream == "" || strings.HasPrefix(tool, upstream+".") {
		return tool
	}
	return upstream + "." + tool
}

// IsCall reports whether the record is about one call.
func (e *Entry) IsCall() bool {
	switch e.Event {
	case "decision", "outcome", "task", "left", "missing":
		return true
	}
	return false
}

// IsRoutine reports whether the record is of a process, a session or a file that begins or ends.
func (e *Entry) IsRoutine() bool {
	switch e.Event {
	case "session opened", "session closed", "end", "closed", "continued":
		return true
	case "start": // of a process; without one it is an order of an operator
		return e.Process != ""
	}
	return false
}

// IsOf reports whether the record is about the tool: by its own name, by the name with its
// upstream, or by a name of the call.
func (e *Entry) IsOf(tool string) bool {
	if e.Tool == tool || e.Upstream+"."+e.Tool == tool {
		return true
	}
	for _, n := range e.Names {
		if n == tool {
			return true
		}
	}
	return false
}

// Says reports whether the record has a verdict of the net, or is about the net itself.
func (e *Entry) Says(net string) bool {
	for i := range e.Nets {
		if e.Nets[i].Net == net {
			return true
		}
	}
	return e.Net == net
}
