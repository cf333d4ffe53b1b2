package policy

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

const objecting = `
name: objecting
scope: session
places: [ready]
initialMarking: { ready: 1 }
transitions:
  - { name: keep, inputs: [ready], outputs: [ready], tools: [keep], deferred: true }
  - { name: look, tools: [odd], observe: true, deferred: true }
  - { name: use, inputs: [ready], outputs: [ready], tools: [use, odd] }
validate:
  - { tools: [use], require: 'args.path == "/a"' }
  - { tools: [odd], require: 'meta.?last.orValue("") != "x" && args.n > 0' }
remember:
  - { transition: keep, set: kept, to: args.path }
  - { transition: look, set: last, to: args.path }
`

// objections lists calls of a session, in order, with their refusals by nets' validators and
// memories.
var objections = []struct{ tool, args, want string }{
	{"use", `{"path":"/a"}`, ""},
	{"use", `{"path":"/b"}`, `The call violates "args.path == \"/a\"".`},
	{"use", `{}`, `The call violates "args.path == \"/a\"": no such key: path.`},
	{"use", `[1]`, `The call cannot be judged: an expression cannot read the arguments: they are not JSON.`},
	{"keep", `{}`, `The success of the call could not be remembered as "kept": no such key: path.`},
	{"odd", `{"n":1}`, ""}, // the value cannot be remembered either, but that does not block a call
	{"odd", `{"n":1}`, `The call depends on a value that the net could not remember: last: no such key: path.`},
}

func TestObjections(t *testing.T) {
	r, err := Build(Source{Nets: parseNets(t, objecting)})
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSession(r.Policy, gate.SessionOptions{})
	for _, o := range objections {
		var got string
		switch d := s.Decide(gate.Call{Tool: o.tool, Args: []byte(o.args)}, nil).(type) {
		case *gate.Allow:
			s.Settle(d.Ticket.Number, gate.Success)
		case *gate.Refusal:
			got = d.Text
		}
		if got != o.want {
			t.Errorf("%s %s:\n got %s\nwant %s", o.tool, o.args, got, o.want)
		}
	}
}
