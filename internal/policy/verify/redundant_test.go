package verify_test

import (
	"slices"
	"strconv"

	"github.com/petrigate/petrigate/gate"
)

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
