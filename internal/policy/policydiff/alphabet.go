package policydiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A call can have several names, because proxies and agents' hooks give additional names to tools.
// An alphabet therefore lists each tool with all its names.

// A namedTool is a tool with all names that calls to it have.
type namedTool struct {
	name    string
	foreign bool // whether the name only restricts calls, so that their success does not count toward requirements
	also    []gate.Name
	command presence // whether calls have the field "command", which affects the names that hooks give
}

// A presence specifies whether a field must be present, must be missing, or can be either.
type presence uint8

const (
	either presence = iota
	there
	missing
)

// An alphabet holds a representative of each kind of tool. Two tools are of the same kind if
// neither policy distinguishes them.
type alphabet struct {
	vocabulary
	tools    []namedTool
	prefixes []string // prefixes of the names of servers' and agents' tools; calls to these tools have several names
	shown    map[visibility]bool
	why      string // why the alphabet is incomplete; empty if it is complete
	stop     func() bool
}

// A visibility describes what the policies can see of a tool: the names that they distinguish, and
// whether its calls have the field "command".
type visibility struct {
	names   string
	command presence
}

// add adds a tool to the alphabet. It omits a tool if the policies mention none of its names, or if
// they cannot distinguish it from an earlier tool or from a call with a single name. If the
// comparison must stop, add marks the alphabet as incomplete and adds nothing.
func (a *alphabet) add(t namedTool) {
	if a.stop() {
		a.why = verify.WhyTime
		return
	}
	seen := a.sees(t.labels())
	if seen == "" || a.shown[visibility{seen, either}] || a.shown[visibility{seen, t.command}] {
		return
	}
	a.shown[visibility{seen, t.command}] = true
	for _, n := range t.labels() {
		if n.Certain && !n.Weak && a.sees([]gate.Name{{Text: n.Text, Certain: true}}) == seen {
			return
		}
	}
	a.tools = append(a.tools, t)
}

// canBeOnlyName reports whether a call can have this name and no other name.
func (a *alphabet) canBeOnlyName(name string) bool {
	behind := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	seen := a.sees([]gate.Name{{Text: name, Certain: true}})
	return !slices.ContainsFunc(a.prefixes, behind) || a.shown[visibility{seen, either}] || a.shown[visibility{seen, there}] || a.shown[visibility{seen, missing}]
}

// labels returns all names of the tool.
func (t namedTool) labels() []gate.Name {
	return append([]gate.Name{{Text: t.name, Certain: !t.foreign, Weak: t.foreign}}, t.also...)
}

// standIn is the prefix of stand-ins, the names that replace the names of tools while calls are
// enumerated. No tool has such a name. A pattern that is shorter than the prefix matches either all
// stand-ins or none.
const standIn = "\x00a tool "

// standIns returns the tools, each under a unique name. Their own names need not be unique, because
// two tools can share a name and differ only in their other names.
func (a *alphabet) standIns() []verify.Tool {
	var all []verify.Tool
	for i, t := range a.tools {
		all = append(all, verify.Tool{Name: fmt.Sprintf("%s%d", standIn, i), Also: t.labels()})
	}
	return all
}

// real converts a call to a stand-in to a call to the tool that it stands for. ok is false if no
// such call can exist.
func (a *alphabet) real(c verify.Call) (call representative, ok bool) {
	var i int
	if _, err := fmt.Sscanf(c.Tool, standIn+"%d", &i); err != nil {
		return call, false
	}
	t := a.tools[i]
	if c.Name == c.Tool {
		c.Name = t.name
	}
	c.Tool, c.Also = t.name, t.also
	command := missing
	if fieldOf(c.Args, "command") {
		command = there
	}
	return representative{c, &gate.Call{Tool: t.name, Foreign: t.foreign, Also: t.also}}, t.command == either || c.Doubtful || t.command == command
}
