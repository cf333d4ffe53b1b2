package proxy_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/proxy"
)

// sharing opens one file for several processes.
func sharing(t *testing.T) func() (proxy.Database, error) {
	path := filepath.Join(t.TempDir(), "state.db")
	return func() (proxy.Database, error) {
		return journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
	}
}

// TestParkedRedemptionsElsewhere: B009. One answer at one process, and calls that come back for it
// to all processes concurrently: one passes, and the others are asked about anew.
func TestParkedRedemptionsElsewhere(t *testing.T) {
	f := newFleet(t, sharing(t), byOperator(atOnce))
	for _, c := range f.clients {
		c.capabilities = "{}"
	}
	for round := range 5 {
		args := fmt.Sprintf(`{"n":%d}`, round)
		id := f.clients[round%3].parked("deploy", args)
		if err := f.sites[(round+1)%3].answer(id, "cli", true); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for n := range 24 {
			ids = append(ids, f.clients[n%3].call("deploy", args))
		}
		passed := 0
		for n, id := range ids {
			r := f.clients[n%3].reply(id)
			waits := r.decision("decision") == "ask" || at(r.result, "resultType") == `"input_required"`
			if !waits && (r.isError() || r.result == nil) {
				t.Errorf("%s", r.raw)
			}
			if !waits {
				passed++
			}
		}
		if passed != 1 {
			t.Errorf("%d passed", passed)
		}
		if f.sites[0].executed("deploy", round+1); t.Failed() {
			return
		}
	}
}

// TestForgedElsewhere: B010 to B012, B014, B015. A state or answer that is invalid at the process
// that asked is invalid at another one too: an answer before the question, and a state of another
// call, with other arguments, of another proxy, or an altered one.
func TestForgedElsewhere(t *testing.T) {
	f := newFleet(t, sharing(t), setup{rules: "require human-approval before deploy\nrequire human-approval before delete\n"})
	stranger := newFleet(t, sharing(t), setup{}) // has another database, and so another key
	q, foreign := f.clients[0].asks("deploy", `{"n":1}`), stranger.clients[0].asks("deploy", `{"n":1}`)
	other := f.clients[1].asks("delete", `{"n":1}`)
	for _, c := range f.clients {
		for name, forged := range map[string]question{
			"no state":        {tool: "deploy", args: `{"n":1}`, state: `""`},
			"another proxy":   {tool: "deploy", args: `{"n":1}`, state: foreign.state},
			"another tool":    {tool: "deploy", args: `{"n":1}`, state: other.state},
			"other arguments": {tool: "deploy", args: `{"n":1.0}`, state: q.state},
			"changed":         {tool: "deploy", args: `{"n":1}`, state: `"` + q.state[2:]},
			"the id":          {tool: "deploy", args: `{"n":1}`, state: `"` + f.sites[0].proxy.Approvals()[0].ID + `"`},
		} {
			forged.c = c
			forged.answeredForNothing(approve)
			if n := f.sites[0].log.Executed(""); n != 0 {
				t.Fatalf("%s: %d were executed", name, n)
			}
		}
	}
	if r := q.at(f.clients[2]).answer(approve); r.result == nil || r.isError() {
		t.Errorf("%s", r.raw)
	}
	f.sites[0].executed("deploy", 1)
	f.sites[0].executed("", 1)
}

// TestOtherPolicyElsewhere: B007. A process with another policy, as during a rollout, does not run
// a call on an approval under the old one.
func TestOtherPolicyElsewhere(t *testing.T) {
	f := newFleet(t, sharing(t), byOperator(atOnce))
	f.clients[0].capabilities = "{}"
	id := f.clients[0].parked("deploy", `{}`)
	if err := f.sites[1].answer(id, "cli", true); err != nil {
		t.Fatal(err)
	}
	f.setup.rules = "require human-approval before deploy\nblock read\n"
	newer := f.add()
	newer.capabilities = "{}"
	if again := newer.parked("deploy", `{}`); again == id {
		t.Error("the consent counts under another policy")
	}
	f.sites[0].executed("deploy", 0)
}
