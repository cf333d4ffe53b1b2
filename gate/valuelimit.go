package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/text"
)

// overfull finds the nets that would store more key values than the policy allows. To make room in
// such a net, it first removes idle key values; see [net.idle]. For each net that is still over the
// limit, it returns the finding for the first value that does not fit.
func (j *judgement) overfull(d *Delta) (over []*finding) {
	grown, freed := 0, -1
	for i := range j.findings {
		f := &j.findings[i]
		if i == 0 || j.findings[i-1].net != f.net {
			grown, freed = 0, -1
		}
		if !f.addsValue {
			continue
		}
		grown++
		full := j.state.Nets[f.net.index].Values.Len() + grown - j.policy.maxValues
		if full > 0 && freed < 0 {
			freed = j.dropIdle(d, f)
		}
		if full > max(freed, 0) && (len(over) == 0 || over[len(over)-1].net != f.net) {
			over = append(over, f)
		}
	}
	return over
}

// refuseOverfull refuses a call because a net would store too many key values.
func (j *judgement) refuseOverfull(f *finding) *Refusal {
	return j.refuse(KindBlocked, []Block{f.rejected(j.call.Tool, f.net.overfullReason(j.policy.maxValues))})
}

// dropNewValues removes from d the new key values of nets that have reached their limit. It is used
// for calls that were made despite the limit. The argument full is the result of
// [judgement.overfull].
func (j *judgement) dropNewValues(d *Delta, full []*finding) {
	for _, first := range full {
		for i := range j.findings {
			if f := &j.findings[i]; f.addsValue && f.net == first.net {
				d.Nets = slices.DeleteFunc(d.Nets, func(n NetDelta) bool { return n.Net == f.net.index && n.Key == f.value.Text })
			}
		}
	}
}

// dropIdle adds to d the changes that remove the idle key values of f's net; see [net.idle]. It
// keeps the values of the current call. It returns the number of values removed.
func (j *judgement) dropIdle(d *Delta, f *finding) int {
	base := f.net.advanced(j.state.Nets[f.net.index], j.state.Nets[f.net.index], j.call.Time)
	isCalled := func(key string) bool {
		return slices.ContainsFunc(f.plan.Values, func(v keyvalue.Value) bool { return v.Text == key })
	}
	idle := f.net.idle(base, base, j.call.Time, isCalled)
	d.Nets, j.ticked = append(d.Nets, idle...), append(j.ticked, idle...)
	return len(idle)
}

// idle returns the changes that remove idle key values from the net. A key value is idle if its
// state at time t equals after, the net's new default state, so that it need not be stored. base is
// the current default state (see [NetData]), which also contains the states for the key values. A
// value is kept if keep returns true for it.
func (n *net) idle(base, after *NetData, t time.Time, keep func(key string) bool) (idle []NetDelta) {
	if !n.moving && len(n.results) == 0 {
		return nil
	}
	for key, old := range base.Values.All() {
		data := *n.advanced(old, base, t)
		if netstate.Prune(&data, after); netstate.EqualsDefault(&data, after) && !keep(key) {
			idle = append(idle, NetDelta{Net: n.index, Key: key, Data: &data})
		}
	}
	return idle
}

// overfullReason returns the reason to give for a net that would store too many key values.
func (n *net) overfullReason(most int) string {
	return fmt.Sprintf("Net '%s' already keeps %s values of %s and accepts no new one until a reset.",
		n.Name, text.Grouped(most), strings.ReplaceAll(n.written.Names(), "`", "'"))
}
