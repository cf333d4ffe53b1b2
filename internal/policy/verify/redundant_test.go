package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestRedundantInSessions checks that verify does not assume that a net that forbids a call in one
// session also forbids it in the next.
func TestRedundantInSessions(t *testing.T) {
	for rules, want := range map[string][]string{
		"limit x to 1 per session\nlimit x to 2 per user":                       nil, // shows only over three sessions
		"limit x to 1 per session\nlimit x to 2 per session":                    {"limit-x-2"},
		"limit x to 1 per user\nlimit x to 2 per user":                          {"limit-x-2-per-user"},
		"limit x to 1 per session for each f\nlimit x to 2 per user for each f": nil,
		"require a before x\nblock x":                                           {"require-a-before-x"},

		// the stricter of two approvals, in either order
		"require human-approval before w\nrequire 2 human-approvals before w":                                   {"approve-before-w"},
		"require 2 human-approvals before w\nrequire human-approval before w":                                   {"approve-before-w"},
		"require human-approval via web before w\nrequire human-approval via cli before w":                      nil,
		"require human-approval via web before w\nrequire human-approval before w":                              {"approve-before-w#2"},
		"require 2 human-approvals before w\nrequire human-approval via web before w":                           nil,
		"require human-approval before w after f\nrequire 2 human-approvals before w after f":                   {"approve-before-w-after-f"},
		"require 2 human-approvals before w after f\nrequire human-approval before w":                           nil,
		"require human-approval before w after f\nrequire human-approval before w":                              {"approve-before-w-after-f"},
		"require human-approval before w unless s\nmap w when \"args.s\" as s\nrequire human-approval before w": {"approve-before-w"},
		"require human-approval before w*\nrequire 2 human-approvals before wx":                                 nil,
		"require 2 human-approvals before w*\nrequire human-approval before wx":                                 {"approve-before-wx"},
	} {
		var got []string
		for _, r := range report(t, rules, nil).Redundant {
			got = append(got, r.Net.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v are redundant, want %v\n%s", got, want, rules)
		}
	}
}

// redundant checks that, without a redundant net, the same calls are admitted and the same
// approvals are requested in every state of brute.
func (tr *trial) redundant() {
	for _, r := range tr.report.Redundant {
		i := slices.IndexFunc(tr.brute.policy.Nets(), func(n gate.NetInfo) bool { return n.Name == r.Net.Name })
		var fewer []gate.Net
		for k, n := range tr.brute.policy.Nets() {
			if k != i {
				fewer = append(fewer, n.Net)
			}
		}
		without, err := gate.NewPolicy(fewer, tr.brute.policy.Options())
		if err != nil {
			tr.errorf("without %s: %v", r.Net.Name, err)
			continue
		}
		var calls []*gate.Prepared
		for _, c := range tr.brute.calls {
			calls = append(calls, without.Prepare(c))
		}
		for k := range tr.brute.moves {
			s := cloneState(tr.brute.states[k].s)
			s.Nets = slices.Delete(slices.Clone(s.Nets), i, i+1)
			for c, call := range tr.brute.calls {
				if isTick(call) {
					continue
				}
				now, ok := beginPrepared(calls[c], s)
				if m := tr.brute.moves[k][c]; ok != m.ok || ok && asked(now.steps) != asked(m.steps) {
					tr.errorf("%s is not redundant: %s %s in %s", r.Net.Name, call.Tool, call.Args, strconv.Quote(tr.brute.states[k].key))
					return
				}
			}
		}
	}
}

// asked returns the number of people who must approve a call, with their channels.
func asked(steps []gate.Step) string {
	most, vias := 0, []string{}
	for _, s := range steps {
		most = max(most, s.Approvals, 1)
		if s.Via != "" && !slices.Contains(vias, s.Via) {
			vias = append(vias, s.Via)
		}
	}
	slices.Sort(vias)
	return fmt.Sprint(most, vias)
}

// TestRandomApprovals checks that, if several rules require approval, a rule is reported as
// redundant only if the same people are asked on the same channels without it.
func TestRandomApprovals(t *testing.T) { try(t, newApprovalTrial, 40) }

func newApprovalTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 77)), small: true}
	var lines []string
	if g.IntN(2) == 0 {
		lines = append(lines, fmt.Sprintf("map %s.f x as m", g.pick("a", "b")))
	}
	for range 2 + g.IntN(3) {
		lines = append(lines, g.approval())
	}
	for range g.IntN(3) {
		lines = append(lines, g.pick("require b before a", "require m before a once", "block b", "limit a to 1 per session", "limit * to 2 per b"))
	}
	src := strings.Join(lines, "\n") + "\n"
	calls, known := g.plainCalls(src, seed)
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: calls, alone: true})
}

func (g *generator) approval() string {
	line := "require " + g.pick("human-approval", "human-approval", "2 human-approvals", "3 human-approvals") + g.pick("", "", " via web", " via cli") +
		" before " + g.pick("a", "a", "b", "a*", "m")
	if g.IntN(3) == 0 {
		line += " after " + g.pick("b", "c")
		if g.IntN(2) == 0 {
			line += " until " + g.pick("c", "a")
		}
	}
	if g.IntN(6) == 0 {
		line += " unless " + g.pick("b", "c")
	}
	return line
}
