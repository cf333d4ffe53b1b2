package pipeline_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestMaskedQuestion: C026. Values named in approval.mask are hidden from people everywhere, with
// their type and size shown, and the server gets them unchanged. Names of members are always shown.
func TestMaskedQuestion(t *testing.T) {
	const arguments = `{"to":"bob","password":"hunter2","deep":[{"pin":1234}]}`
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Hour, Mask: []string{"Password", "$.deep.pin"}}
		}})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", arguments)
		info, err := s.Proxy.Approval(s.AwaitPending(1)[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		everything, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{q.Text(), string(everything)} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "1234}") {
				t.Errorf("a secret is shown: %s", text)
			}
			for _, want := range []string{"password", "*** (string, 7 bytes)", "*** (number, 4 characters)", "bob"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %s", want, text)
				}
			}
		}
		if info.Masked != 2 || info.Size != len(arguments) || !strings.Contains(q.Text(), "Masked by approval.mask: 2 values.") {
			t.Errorf("%d are masked, %d bytes: %s", info.Masked, info.Size, q.Text())
		}
		q.Answer(proxytest.Approve)
		if records := s.Log.Records("executed"); len(records) != 1 || string(records[0].Args) != arguments {
			t.Errorf("%v", records)
		}
		for _, a := range s.Proxy.Approvals() {
			if strings.Contains(string(a.Arguments), "hunter2") {
				t.Errorf("it is kept: %s", a.Arguments)
			}
		}
		if r := s.Records.Decisions("allow"); r[0].Arguments == "" {
			t.Errorf("%+v", r)
		}
	})
}

// TestApprovalInfo: a page has all data, including the differences from the last approved call; a
// list has neither long parts nor differences.
func TestApprovalInfo(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		id := c.Call("deploy", `{"env":"staging","n":1}`)
		first := s.AwaitPending(1)[0]
		if first.LastApproved != nil || !first.Answered.IsZero() || first.Client != "tester 1" {
			t.Errorf("%+v", first)
		}
		if err := s.Proxy.Resolve(first.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		c.Reply(id)
		id = c.CallWith("deploy", `{"env":"p\u0430ypal","m":2}`, `"a/b":1`, "")
		listed := s.AwaitPending(1)[0]
		info, err := s.Proxy.Approval(listed.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Steps) != 1 || info.Steps[0].Rule != info.Rules[0] || info.Steps[0].Net == "" || info.Steps[0].Transition == "" || info.Steps[0].Reason == "" {
			t.Errorf("%+v", info.Steps)
		}
		if !strings.Contains(string(info.Meta), `"a/b":1`) || len(info.Definition) != 64 || info.Policy != s.Proxy.Status().Policy {
			t.Errorf("%s %s %s", info.Meta, info.Definition, info.Policy)
		}
		if len(info.Warnings) != 1 || !strings.Contains(info.Question, "Warning: "+info.Warnings[0]) {
			t.Errorf("%q", info.Warnings)
		}
		differences, err := json.Marshal(info.Differences)
		if want := `[{"path":"$.env","was":"staging","is":"p\u0430ypal"},{"path":"$.m","is":2},{"path":"$.n","was":1}]`; err != nil || string(differences) != want {
			t.Errorf("%s, %v", differences, err)
		}
		if info.LastApproval != first.ID || info.LastApproved == nil || info.NotCompared || info.Redefined || listed.Differences != nil {
			t.Errorf("%+v", info)
		}
		if err := s.Proxy.Resolve(info.ID, false, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if info, err = s.Proxy.Approval(info.ID); err != nil || info.Answered.IsZero() {
			t.Errorf("%+v, %v", info, err)
		}
		c.Reply(id)
		c.Call("deploy", `{"long":"`+strings.Repeat("x", 2000)+`"}`)
		if long := s.AwaitPending(1)[0]; long.Arguments != nil || long.Meta != nil || long.Steps != nil {
			t.Errorf("%+v", long)
		}
	})
}

// TestHoldFor: the time that a call waits can depend on the name of its client.
func TestHoldFor(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: time.Hour, HoldFor: func(client string) time.Duration {
				if client == "hasty" {
					return 0
				}
				return time.Hour
			}}
		}})
		patient := s.Connect(l, "")
		s.ClientName = "hasty"
		hasty := s.Connect(l, "")
		held := patient.Call("deploy", `{}`)
		hasty.Parks("deploy", `{}`)
		for _, a := range s.AwaitPending(2) {
			if err := s.Proxy.Resolve(a.ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
		}
		if r := patient.Reply(held); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
	})
}
