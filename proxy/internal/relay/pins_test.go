package relay_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestQuarantined: B008. A tool whose definition changes, even between an approval and its call, is
// neither listed nor called until a person has accepted the new definition.
func TestQuarantined(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		of, pins := proxytest.PinnedSetup(t, true)
		s := proxytest.Start(t, of)
		c := s.Connect(l, "")
		s.AwaitSubscribed()
		if n := len(pins.Changes()); n != 0 {
			t.Errorf("%d changes at first sight", n)
		}
		id := c.Call("deploy", `{}`)
		question := s.AwaitPending(1)[0]
		s.Upstream.AddTool(proxytest.PoisonedTool())
		s.Eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
		if slices.Contains(listed(c), "deploy") || strings.Contains(string(c.List().Raw), "id_rsa") {
			t.Error("clients see what nobody has accepted")
		}
		if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); !r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Refuses("deploy", `{}`, "quarantined"); !strings.Contains(r.Text(), "A person must review that first") || strings.Contains(r.Text(), "petrigate tools") {
			t.Errorf("%s", r.Text())
		}
		s.Executed("deploy", 0)
		c.Must("read", `{}`)

		change := pins.Changes()[0]
		if !change.Quarantined || change.By != "first sight" || !strings.Contains(string(change.Differences[0].Is), "id_rsa") {
			t.Errorf("%+v", change)
		}
		if err := pins.Accept("up.deploy", strings.Repeat("0", 64), proxy.Actor{Name: "ada"}); err == nil || !strings.Contains(err.Error(), "has changed since it was shown") {
			t.Errorf("accepted what was not shown: %v", err)
		}
		if err := pins.Accept("up.nope", change.Hash, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("accepted a tool that has not changed")
		}
		if err := pins.Accept("up.deploy", change.Hash, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		s.Eventually("the tool is listed", func() bool { return slices.Contains(listed(c), "deploy") })
		c.Call("deploy", `{}`)
		s.AwaitPending(1)
	})
}

// TestQuarantinedAfterApproval: B008. An approved call is not made if its tool has changed since,
// and the approval is void once the change is accepted.
func TestQuarantinedAfterApproval(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		of, pins := proxytest.PinnedSetup(t, true)
		change := of.Change
		of.Change = func(o *proxy.Options) {
			change(o)
			o.Approval.Hold = proxytest.ParkAtOnce
		}
		s := proxytest.Start(t, of)
		c := s.Connect(l, "")
		s.AwaitSubscribed()
		first := c.Do("deploy", `{}`)
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		s.Upstream.AddTool(proxytest.PoisonedTool())
		s.Eventually("the tool is quarantined", func() bool { return len(pins.Changes()) == 1 })
		again := func() proxytest.Message {
			if l.Modern {
				return c.Reply(c.CallWith("deploy", `{}`, "", `,"requestState":`+proxytest.Member(first.Result, "requestState")))
			}
			return c.Do("deploy", `{}`)
		}
		if r := again(); !r.IsError() || r.Decision("kind") != "quarantined" {
			t.Errorf("%s", r.Raw)
		}
		if err := pins.Accept("up.deploy", pins.Changes()[0].Hash, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		s.Eventually("the tool is listed", func() bool { return slices.Contains(listed(c), "deploy") })
		again() // it is refused, or a person is asked anew
		s.Executed("deploy", 0)
	})
}

// TestWarnedOfDefinition: without enforcement a change only causes a warning.
func TestWarnedOfDefinition(t *testing.T) {
	of, pins := proxytest.PinnedSetup(t, false)
	s := proxytest.Start(t, of)
	c := s.Connect(proxytest.Legs()[0], "")
	s.Upstream.AddTool(proxytest.PoisonedTool())
	s.Eventually("the change is known", func() bool { return len(pins.Changes()) == 1 })
	if !slices.Contains(listed(c), "deploy") {
		t.Error("the tool is not listed")
	}
	warnings := s.Proxy.Status().Warnings
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "up.deploy: its definition differs") }) {
		t.Errorf("%q", warnings)
	}
	if err := pins.Accept("up.deploy", pins.Changes()[0].Hash, proxy.Actor{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	if n := len(pins.Changes()); n != 0 {
		t.Errorf("%d changes after it was accepted", n)
	}
}

// TestWithoutPinsNothingIsChecked: without pins nothing is checked, and nothing can be accepted.
func TestWithoutPinsNothingIsChecked(t *testing.T) {
	var pins *proxy.Pins
	if n := len(pins.Changes()); n != 0 {
		t.Errorf("%d changes", n)
	}
	if err := pins.Accept("up.deploy", "", proxy.Actor{Name: "ada"}); err == nil {
		t.Error("something was accepted")
	}
}
