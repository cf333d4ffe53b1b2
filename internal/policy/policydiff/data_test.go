package policydiff

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestDiffsOfData checks that nets that count by arguments cancel out if both policies have them
// and are otherwise compared as far as this is sound.
func TestDiffsOfData(t *testing.T) {
	calls := []gate.Call{
		{Tool: "pay"}, {Tool: "other"}, {Tool: "fetch"}, {Tool: "review"}, {Tool: "send"}, {Tool: "test"}, {Tool: "edit"},
		{Tool: "test", Args: []byte(`{}`)}, {Tool: "review", Args: []byte(`{}`)},
	}
	for _, args := range []string{`{"path":"x"}`, `{"path":"y"}`, `{"amount":100}`, `{"amount":400}`, `{"amount":501}`, `{"amount":1001}`} {
		for _, tool := range []string{"pay", "backup", "delete", "post"} {
			calls = append(calls, gate.Call{Tool: tool, Args: []byte(args)})
		}
	}
	for _, c := range []struct {
		old, changed []string
		want         string
	}{
		{[]string{"require backup before delete with same path"}, []string{"require backup before delete with same path"}, "equal"},
		{[]string{"require backup before delete with same path"}, []string{"require backup before delete with same path", "block pay"}, "stricter"},
		{[]string{"require backup before delete with same path", "block delete"}, []string{"require backup before delete with same path"}, "looser"},
		{[]string{"limit pay to 1000 of amount per session"}, []string{"limit pay to 500 of amount per session"}, "stricter"},
		{[]string{"limit pay to 500 of amount per session"}, []string{"limit pay to 1000 of amount per session"}, "looser"},
		{[]string{"limit pay to 500 of amount per session", "block post"}, []string{"limit pay to 1000 of amount per session", "block delete"}, "both"},
		{[]string{"limit pay to 500 of amount per session"}, []string{"limit pay to 500 of amount per session", "limit post to 2 per session"}, "stricter"},
		{[]string{"limit pay to 500 of amount per session"}, nil, "looser"},
		{[]string{"require backup before delete"}, []string{"require backup before delete with same path"}, "both"},
		{[]string{"limit post to 2 per session"}, []string{"limit post to 2 per session for each path"}, "both"},
		{[]string{"limit post to 3 in a row"}, []string{"limit post to 3 in a row", "block pay"}, "stricter"},
		{[]string{"limit post to 3 in a row"}, []string{"limit post to 2 in a row"}, "stricter"},
		{[]string{"require test before pay"}, []string{"require test before pay since edit"}, "stricter"},
		{[]string{"require test before pay since edit"}, []string{"require test before pay since edit", "block post"}, "stricter"},
		{[]string{"require test before pay since edit once"}, []string{"require test before pay since edit"}, "stricter"},
		{[]string{"require test before pay once"}, []string{"require test before pay once since edit"}, "stricter"},
		{[]string{"block send after fetch"}, []string{"block send after fetch until review"}, "looser"},
		{[]string{"require 2 human-approvals before pay"}, []string{"require human-approval before pay"}, "looser"},
		{[]string{"limit post to 2 at once"}, []string{"limit post to 3 at once"}, "looser"},
	} {
		p := &pair{lines: [2][]string{c.old, c.changed}, calls: calls}
		d := p.compare(t)
		if d == nil {
			t.Errorf("no policies:\n%s", p)
			continue
		}
		if d.result() != c.want || c.want != "both" && d.Complete == strings.HasSuffix(c.want, "-or-both") {
			t.Errorf("%s, complete %v (%s); want %s\n%s", d.result(), d.Complete, d.why, c.want, p)
		}
		g := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			stricter, looser := walkedWith(g, d, calls)
			if d.Complete && (stricter && d.Stricter == nil || looser && d.Looser == nil) {
				t.Fatalf("diff says %s, calls show stricter %v, looser %v\n%s", d.result(), stricter, looser, p)
			}
		}
	}
}
