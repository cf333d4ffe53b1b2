package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestRemedyOfKeys checks that a remedy uses the values of the call and starts from the session's
// state.
func TestRemedyOfKeys(t *testing.T) {
	rules := `require backup before delete with same path
require lookup before send with same to as result.$.contacts[*].email
limit post to 1 per session for each channel
require test before push since edit with same branch
`
	p, o := build(t, map[string]string{"policy.rules": rules})
	for _, c := range []struct{ before, beforeArgs, tool, args, want string }{
		{"", "", "delete", `{"path":"prod.db"}`, "Way out: call `backup` with path \"prod.db\"; after that `delete` is allowed."},
		{"backup", `{"path":"notes.txt"}`, "delete", `{"path":"prod.db"}`, "Way out: call `backup` with path \"prod.db\"; after that `delete` is allowed."},
		{"backup", `{"path":"a"}`, "delete", `{"path":["a","b"]}`, "Way out: call `backup` with path \"b\"; after that `delete` is allowed."},
		{"", "", "delete", `{"path":["a","b"]}`, "Way out: call `backup` with path \"a\", then `backup` with path \"b\"; after that `delete` is allowed."},
		{"", "", "delete", `{"path":9007199254740993}`, "Way out: call `backup` with path 9007199254740993; after that `delete` is allowed."},
		{"", "", "delete", `{"path":"a\u202e<b>&"}`, "Way out: call `backup` with path \"a\\u202e<b>&\"; after that `delete` is allowed."},
		{"", "", "delete", `{"path":7}`, "Way out: call `backup` with path 7; after that `delete` is allowed."},
		{"", "", "delete", `{}`, ""},
		{"", "", "send", `{"to":"bob@x.org"}`, "Way out: call `lookup`, with a result like {\"contacts\":[{\"email\":\"bob@x.org\"}]}; after that `send` is allowed."},
		{"post", `{"channel":"c"}`, "post", `{"channel":"c"}`, "No other call changes that in this session."},
		{"", "", "push", `{"branch":"main"}`, "Way out: call `test` with branch \"main\"; after that `push` is allowed."},
	} {
		s := gate.NewSession(p, gate.SessionOptions{})
		if c.before != "" {
			s.Decide(gate.Call{Tool: c.before, Args: []byte(c.beforeArgs)}, nil).(*gate.Allow).Ticket.Settle(gate.Success)
		}
		call := gate.Call{Tool: c.tool, Args: []byte(c.args)}
		r, refused := s.Decide(call, nil).(*gate.Refusal)
		if !refused {
			t.Fatalf("%s %s is not refused", c.tool, c.args)
		}
		remedy := verify.NewRemedyFinder(p, o).Remedy(s.Snapshot(), call, r)
		if got := remedy.Sentence(c.tool); got != c.want {
			t.Errorf("%s %s after %s: %q, %q", c.tool, c.args, c.before, got, remedy.Why)
		}
	}
}
