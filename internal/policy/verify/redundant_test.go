package verify_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestRedundantInSessions: what forbids in one session may not in the next.
func TestRedundantInSessions(t *testing.T) {
	for rules, want := range map[string][]string{
		"limit x to 1 per session\nlimit x to 2 per user":                       nil, // three sessions
		"limit x to 1 per session\nlimit x to 2 per session":                    {"limit-x-2"},
		"limit x to 1 per user\nlimit x to 2 per user":                          {"limit-x-2-per-user"},
		"limit x to 1 per session for each f\nlimit x to 2 per user for each f": nil,
		"require a before x\nblock x":                                           {"require-a-before-x"},
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

// redundant checks that the same calls pass without a redundant net, and the
// same questions are asked, in every state that brute force knows.
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
				if m := tr.brute.moves[k][c]; ok != m.ok || ok && now.manual != m.manual {
					tr.errorf("%s is not redundant: %s %s in %s", r.Net.Name, call.Tool, call.Args, strconv.Quote(tr.brute.states[k].key))
					return
				}
			}
		}
	}
}
