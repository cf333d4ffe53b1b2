package proxy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// TestMaskedQuestion: C026. Values named in approval.mask are hidden from people everywhere, with
// their type and size shown, and the server gets them unchanged. Names of members are always shown.
func TestMaskedQuestion(t *testing.T) {
	const arguments = `{"to":"bob","password":"hunter2","deep":[{"pin":1234}]}`
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Hour, Mask: []string{"Password", "$.deep.pin"}}
		}})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", arguments)
		info, err := s.proxy.Approval(s.pending(1)[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		everything, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{q.text(), string(everything)} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "1234}") {
				t.Errorf("a secret is shown: %s", text)
			}
			for _, want := range []string{"password", "*** (string, 7 bytes)", "*** (number, 4 characters)", "bob"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %s", want, text)
				}
			}
		}
		if info.Masked != 2 || info.Size != len(arguments) || !strings.Contains(q.text(), "Masked by approval.mask: 2 values.") {
			t.Errorf("%d are masked, %d bytes: %s", info.Masked, info.Size, q.text())
		}
		q.answer(approve)
		if records := s.log.Records("executed"); len(records) != 1 || string(records[0].Args) != arguments {
			t.Errorf("%v", records)
		}
		for _, a := range s.proxy.Approvals() {
			if strings.Contains(string(a.Arguments), "hunter2") {
				t.Errorf("it is kept: %s", a.Arguments)
			}
		}
		if r := s.records.decisions("allow"); r[0].Arguments == "" {
			t.Errorf("%+v", r)
		}
	})
}

// TestApprovalInfo: a page has all data, including the differences from the last approved call; a
// list has neither long parts nor differences.
func TestApprovalInfo(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		id := c.call("deploy", `{"env":"staging","n":1}`)
		first := s.pending(1)[0]
		if first.LastApproved != nil || !first.Answered.IsZero() || first.Client != "tester 1" {
			t.Errorf("%+v", first)
		}
		if err := s.proxy.Resolve(first.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		c.reply(id)
		id = c.callWith("deploy", `{"env":"p\u0430ypal","m":2}`, `"a/b":1`, "")
		listed := s.pending(1)[0]
		info, err := s.proxy.Approval(listed.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Steps) != 1 || info.Steps[0].Rule != info.Rules[0] || info.Steps[0].Net == "" || info.Steps[0].Transition == "" || info.Steps[0].Reason == "" {
			t.Errorf("%+v", info.Steps)
		}
		if !strings.Contains(string(info.Meta), `"a/b":1`) || len(info.Definition) != 64 || info.Policy != s.proxy.Status().Policy {
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
		if err := s.proxy.Resolve(info.ID, false, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if info, err = s.proxy.Approval(info.ID); err != nil || info.Answered.IsZero() {
			t.Errorf("%+v, %v", info, err)
		}
		c.reply(id)
		c.call("deploy", `{"long":"`+strings.Repeat("x", 2000)+`"}`)
		if long := s.pending(1)[0]; long.Arguments != nil || long.Meta != nil || long.Steps != nil {
			t.Errorf("%+v", long)
		}
	})
}

// TestHoldFor: the time that a call waits can depend on the name of its client.
func TestHoldFor(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: time.Hour, HoldFor: func(client string) time.Duration {
				if client == "hasty" {
					return 0
				}
				return time.Hour
			}}
		}})
		patient := s.connect(l, "")
		s.clientName = "hasty"
		hasty := s.connect(l, "")
		held := patient.call("deploy", `{}`)
		hasty.parked("deploy", `{}`)
		for _, a := range s.pending(2) {
			if err := s.proxy.Resolve(a.ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
		}
		if r := patient.reply(held); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
	})
}
