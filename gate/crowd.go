package gate

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// crowded returns a refusal if a net with a key would keep more values than the policy
// allows. It first drops those that are as at the start again.
func (j *judgement) crowded(d *Delta) *Refusal {
	grown, freed := 0, -1
	for i := range j.findings {
		f := &j.findings[i]
		if i == 0 || j.findings[i-1].net != f.net {
			grown, freed = 0, -1
		}
		if !f.grows {
			continue
		}
		grown++
		over := f.base.Values.Len() + grown - j.policy.most
		if over > 0 && freed < 0 {
			freed = j.sweep(d, f)
		}
		if over > max(freed, 0) {
			return j.refuse(KindBlocked, []Block{f.objected(j.call.Tool, f.net.crowd(j.policy.most))})
		}
	}
	return nil
}

// sweep drops the values that the clock has put back to the start, and those that were
// only kept for watches that have ended, and counts them. Of the values of the call it
// drops none.
func (j *judgement) sweep(d *Delta, f *finding) (freed int) {
	n := f.net
	if !n.clocked() && len(n.results) == 0 {
		return 0
	}
	concerned := make(map[string]bool)
	for _, v := range f.plan.values {
		concerned[v.text] = true
	}
	for key, old := range f.base.Values.All() {
		if concerned[key] {
			continue
		}
		data := *n.at(old, f.base, j.call.Time)
		data.prune(f.base)
		if data.like(f.base) {
			delta := NetDelta{Net: n.index, Key: key, Data: &data}
			d.Nets, j.ticked = append(d.Nets, delta), append(j.ticked, delta)
			freed++
		}
	}
	return freed
}

// crowd returns the reason of a net that would keep too many values.
func (n *net) crowd(most int) string {
	return fmt.Sprintf("Net '%s' keeps %s values of %s already, and the call would add one: no more are kept.",
		n.Name, text.Grouped(most), strings.ReplaceAll(n.written.names(), "`", "'"))
}
