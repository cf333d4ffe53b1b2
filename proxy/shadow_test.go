package proxy_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/proxy"
)

// inShadow is the policy of the rules, entirely in shadow.
func inShadow(t *testing.T, rules, fallback string) *gate.Policy {
	t.Helper()
	r, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "test.rules", Text: rules}}, Mode: "shadow", Default: fallback})
	if err != nil {
		t.Fatal(err)
	}
	return r.Policy
}

// TestShadowNeverStops: shadow nets cause no refusal, no question and no wait, whatever they would
// have decided, with 64 concurrent callers.
func TestShadowNeverStops(t *testing.T) {
	rules := defaultRules + "limit safe to 1 per session\n"
	policies := map[string]func() *gate.Policy{
		"the whole policy": func() *gate.Policy { return inShadow(t, rules, "deny") },
		"every rule": func() *gate.Policy {
			return policyOf(t, strings.NewReplacer("require ", "shadow require ", "block ", "shadow block ", "limit ", "shadow limit ").Replace(rules))
		},
	}
	for name, build := range policies {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, setup{policy: build(), change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}} }})
			c := s.connect(l, canElicit)
			var ids []string
			for i := range 64 {
				tool := []string{"delete", "deploy", "danger", "push", "safe"}[i%5]
				ids = append(ids, c.call(tool, `{"n":`+strconv.Itoa(i)+`}`))
			}
			for _, id := range ids {
				if r := c.reply(id); r.result == nil || r.isError() || strings.Contains(string(r.raw), "io.petrigate") || at(r.result, "resultType") == `"input_required"` {
					t.Errorf("%s: %s", name, r.raw)
				}
			}
			s.executed("", 64)
			if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n > 0 || len(s.proxy.Approvals()) > 0 {
				t.Errorf("%s: somebody was asked", name)
			}
			if allowed, all := len(s.records.decisions("allow")), len(s.records.decisions("")); allowed != 64 || all != 64 {
				t.Errorf("%s: %d of %d records are of calls that passed", name, allowed, all)
			}
		})
	}
}

// TestShadowOnRecord: the record of a call and the log contain the shadow decision, and an operator
// gets a summary and sees where the markings differ.
func TestShadowOnRecord(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		var logged syncBuffer
		s := start(t, setup{rules: "shadow require backup before delete\nshadow limit delete to 1 per session\nlimit push to 1 per session\n", change: func(o *proxy.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		}})
		c := s.connect(l, "")
		c.must("delete", `{}`)
		c.must("delete", `{}`)
		c.must("safe", `{}`)
		c.must("push", `{}`)
		c.blocked("push")
		var would []string
		for _, r := range s.records.decisions("allow") {
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
		s.shadowSummed()
	})
}

// shadowSummed checks the sums of TestShadowOnRecord.
func (s *site) shadowSummed() {
	s.t.Helper()
	for _, id := range []string{"", s.proxy.Sessions()[0].ID} {
		r, err := s.proxy.Shadow(id)
		if err != nil || r.Policy || r.Refused != 2 || r.Asked != 0 || len(r.Would) != 1 || r.Would[0].Count != 2 || r.Would[0].Tool != "up.delete" || r.Would[0].Rules[0] != "test.rules:1:1" {
			s.t.Fatalf("%q: %+v, %v", id, r, err)
		}
		parted := map[string]bool{}
		for _, n := range r.Nets {
			parted[n.Net] = n.Parted
		}
		if len(parted) != 2 || parted["require-backup-before-delete"] || !parted["limit-delete-1"] {
			s.t.Errorf("%q: %+v", id, r.Nets)
		}
	}
	for _, n := range s.proxy.Sessions()[0].Nets {
		if (n.Shadow != nil) != (n.Name != "limit-push-1") {
			s.t.Errorf("%+v", n)
		}
	}
	if _, err := s.proxy.Shadow("nonsense"); err == nil {
		s.t.Error("the shadow of no session")
	}
}

// TestShadowPolicy: every record of a policy in shadow says so, and which approvals would have been
// required.
func TestShadowPolicy(t *testing.T) {
	s := start(t, setup{policy: inShadow(t, "require human-approval before deploy\n", "")})
	c := s.connect(legs()[0], canElicit)
	c.must("deploy", `{}`)
	c.must("safe", `{}`)
	for _, r := range s.records.decisions("") {
		if !r.Shadow || (r.Tool == "deploy") != (r.Would.Decision == "ask" && r.Would.Kind == "approval") {
			t.Errorf("%+v", r)
		}
	}
	r, err := s.proxy.Shadow("")
	if err != nil || !r.Policy || r.Asked != 1 || r.Refused != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A syncBuffer is written and read by several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
