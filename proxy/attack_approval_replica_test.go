package proxy_test

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// TestParkedRedemptionsElsewhere: B009. One answer at one process, and calls that come back for it
// to all processes concurrently: one passes, and the others are asked about anew.
func TestParkedRedemptionsElsewhere(t *testing.T) {
	t.Parallel()
	f := proxytest.NewFleet(t, proxytest.SharedDatabase(t), proxytest.OperatorSetup(proxytest.ParkAtOnce))
	for _, c := range f.Clients {
		c.Capabilities = "{}"
	}
	for round := range 5 {
		args := fmt.Sprintf(`{"n":%d}`, round)
		id := f.Clients[round%3].Parks("deploy", args)
		if err := answer(f.Sites[(round+1)%3], id, "cli", true); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for n := range 24 {
			ids = append(ids, f.Clients[n%3].Call("deploy", args))
		}
		passed := 0
		for n, id := range ids {
			r := f.Clients[n%3].Reply(id)
			waits := r.Decision("decision") == "ask" || proxytest.Member(r.Result, "resultType") == `"input_required"`
			if !waits && (r.IsError() || r.Result == nil) {
				t.Errorf("%s", r.Raw)
			}
			if !waits {
				passed++
			}
		}
		if passed != 1 {
			t.Errorf("%d passed", passed)
		}
		if f.Sites[0].Executed("deploy", round+1); t.Failed() {
			return
		}
	}
}

// TestForgedElsewhere: B010 to B012, B014, B015. A state or answer that is invalid at the process
// that asked is invalid at another one too: an answer before the question, and a state of another
// call, with other arguments, of another proxy, or an altered one.
func TestForgedElsewhere(t *testing.T) {
	t.Parallel()
	f := proxytest.NewFleet(t, proxytest.SharedDatabase(t), proxytest.Setup{Rules: "require human-approval before deploy\nrequire human-approval before delete\n"})
	stranger := proxytest.NewFleet(t, proxytest.SharedDatabase(t), proxytest.Setup{}) // has another database, and so another key
	q, foreign := f.Clients[0].Asks("deploy", `{"n":1}`), stranger.Clients[0].Asks("deploy", `{"n":1}`)
	other := f.Clients[1].Asks("delete", `{"n":1}`)
	for _, c := range f.Clients {
		for name, forged := range map[string]proxytest.Question{
			"no state":        {Tool: "deploy", Args: `{"n":1}`, State: `""`},
			"another proxy":   {Tool: "deploy", Args: `{"n":1}`, State: foreign.State},
			"another tool":    {Tool: "deploy", Args: `{"n":1}`, State: other.State},
			"other arguments": {Tool: "deploy", Args: `{"n":1.0}`, State: q.State},
			"changed":         {Tool: "deploy", Args: `{"n":1}`, State: `"` + q.State[2:]},
			"the id":          {Tool: "deploy", Args: `{"n":1}`, State: `"` + f.Sites[0].Proxy.Approvals()[0].ID + `"`},
		} {
			forged.Client = c
			answeredForNothing(forged, proxytest.Approve)
			if n := f.Sites[0].Log.Executed(""); n != 0 {
				t.Fatalf("%s: %d were executed", name, n)
			}
		}
	}
	if r := q.ReceivedBy(f.Clients[2]).Answer(proxytest.Approve); r.Result == nil || r.IsError() {
		t.Errorf("%s", r.Raw)
	}
	f.Sites[0].Executed("deploy", 1)
	f.Sites[0].Executed("", 1)
}

// TestOtherPolicyElsewhere: B007. A process with another policy, as during a rollout, does not run
// a call on an approval under the old one.
func TestOtherPolicyElsewhere(t *testing.T) {
	t.Parallel()
	f := proxytest.NewFleet(t, proxytest.SharedDatabase(t), proxytest.OperatorSetup(proxytest.ParkAtOnce))
	f.Clients[0].Capabilities = "{}"
	id := f.Clients[0].Parks("deploy", `{}`)
	if err := answer(f.Sites[1], id, "cli", true); err != nil {
		t.Fatal(err)
	}
	f.Setup.Rules = "require human-approval before deploy\nblock read\n"
	newer := f.Add()
	newer.Capabilities = "{}"
	if again := newer.Parks("deploy", `{}`); again == id {
		t.Error("the consent counts under another policy")
	}
	f.Sites[0].Executed("deploy", 0)
}
