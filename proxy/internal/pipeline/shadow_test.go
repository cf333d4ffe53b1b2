package pipeline_test

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestShadowNeverStops: shadow nets cause no refusal, no question and no wait, whatever they would
// have decided, with 64 concurrent callers.
func TestShadowNeverStops(t *testing.T) {
	rules := proxytest.DefaultRules + "limit safe to 1 per session\n"
	policies := map[string]func() *gate.Policy{
		"the whole policy": func() *gate.Policy { return proxytest.ShadowPolicy(t, rules, "deny") },
		"every rule": func() *gate.Policy {
			return proxytest.PolicyOf(t, strings.NewReplacer("require ", "shadow require ", "block ", "shadow block ", "limit ", "shadow limit ").Replace(rules))
		},
	}
	for name, build := range policies {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Policy: build(), Change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}} }})
			c := s.Connect(l, proxytest.CanElicit)
			var ids []string
			for i := range 64 {
				tool := []string{"delete", "deploy", "danger", "push", "safe"}[i%5]
				ids = append(ids, c.Call(tool, `{"n":`+strconv.Itoa(i)+`}`))
			}
			for _, id := range ids {
				if r := c.Reply(id); r.Result == nil || r.IsError() || strings.Contains(string(r.Raw), "io.petrigate") || proxytest.Member(r.Result, "resultType") == `"input_required"` {
					t.Errorf("%s: %s", name, r.Raw)
				}
			}
			s.Executed("", 64)
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n > 0 || len(s.Proxy.Approvals()) > 0 {
				t.Errorf("%s: somebody was asked", name)
			}
			if allowed, all := len(s.Records.Decisions("allow")), len(s.Records.Decisions("")); allowed != 64 || all != 64 {
				t.Errorf("%s: %d of %d records are of calls that passed", name, allowed, all)
			}
		})
	}
}

// TestShadowOnRecord: the record of a call and the log contain the shadow decision, and an operator
// gets a summary and sees where the markings differ.
func TestShadowOnRecord(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		var logged proxytest.SyncBuffer
		s := proxytest.Start(t, proxytest.Setup{Rules: "shadow require backup before delete\nshadow limit delete to 1 per session\nlimit push to 1 per session\n", Change: func(o *proxy.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		}})
		c := s.Connect(l, "")
		c.Must("delete", `{}`)
		c.Must("delete", `{}`)
		c.Must("safe", `{}`)
		c.Must("push", `{}`)
		c.CallBlocked("push")
		var would []string
		for _, r := range s.Records.Decisions("allow") {
			if r.Would.Decision == "" {
				continue
			}
			if r.Shadow || r.Would.Reason == "" || len(r.Would.Nets) == 0 || r.Would.Nets[0].Rule == "" {
				t.Errorf("%+v", r)
			}
			would = append(would, fmt.Sprintf("%s %s %s %s", r.Tool, r.Would.Decision, r.Would.Kind, r.Would.Nets[0].Net))
		}
		if got := strings.Join(would, ", "); got != "delete refuse blocked require-backup-before-delete, delete refuse blocked require-backup-before-delete" {
			t.Errorf("would: %s", got)
		}
		if n := strings.Count(logged.String(), "would=refuse"); n != 2 {
			t.Errorf("%d lines in the log: %s", n, logged.String())
		}
		shadowSummed(s)
	})
}

// shadowSummed checks the sums of TestShadowOnRecord.
func shadowSummed(s *proxytest.Site) {
	s.T.Helper()
	for _, id := range []string{"", s.Proxy.Sessions()[0].ID} {
		r, err := s.Proxy.Shadow(id)
		if err != nil || r.Policy || r.Refused != 2 || r.Asked != 0 || len(r.Would) != 1 || r.Would[0].Count != 2 || r.Would[0].Tool != "up.delete" || r.Would[0].Rules[0] != "test.rules:1:1" {
			s.T.Fatalf("%q: %+v, %v", id, r, err)
		}
		parted := map[string]bool{}
		for _, n := range r.Nets {
			parted[n.Net] = n.Parted
		}
		if len(parted) != 2 || parted["require-backup-before-delete"] || !parted["limit-delete-1"] {
			s.T.Errorf("%q: %+v", id, r.Nets)
		}
	}
	for _, n := range s.Proxy.Sessions()[0].Nets {
		if (n.Shadow != nil) != (n.Name != "limit-push-1") {
			s.T.Errorf("%+v", n)
		}
	}
	if _, err := s.Proxy.Shadow("nonsense"); err == nil {
		s.T.Error("the shadow of no session")
	}
}

// TestShadowPolicy: every record of a policy in shadow says so, and which approvals would have been
// required.
func TestShadowPolicy(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ShadowPolicy(t, "require human-approval before deploy\n", "")})
	c := s.Connect(proxytest.Legs()[0], proxytest.CanElicit)
	c.Must("deploy", `{}`)
	c.Must("safe", `{}`)
	for _, r := range s.Records.Decisions("") {
		if !r.Shadow || (r.Tool == "deploy") != (r.Would.Decision == "ask" && r.Would.Kind == "approval") {
			t.Errorf("%+v", r)
		}
	}
	r, err := s.Proxy.Shadow("")
	if err != nil || !r.Policy || r.Asked != 1 || r.Refused != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
