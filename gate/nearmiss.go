package gate

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// nearTo returns the near misses (see [Near]) to list when the net n blocks a call under the given
// name. These are calls that seemed to meet a requirement of n but did not count. The blocked call
// itself can be one of them. For example, a script that runs the required command and then the
// blocked one does not meet the requirement, because n decides on the whole script before it runs.
func (j *judgement) nearTo(n *net, name string) (near []Near) {
	near = list.Filter(j.state.Near, func(miss Near) bool { return slices.Contains(n.awaits, miss.Name) })
	for i := range j.labels {
		l := &j.labels[i]
		if l.Text == name || l.Weak && !l.Near || !slices.Contains(n.awaits, l.Text) {
			continue
		}
		read, m := j.mappedText(l.Text)
		if m == nil || m.Reader == nil {
			continue
		}
		why := Doubt{What: "the verdict is on the whole call, before any of it runs", Code: text.Excerpt(read, maxWords), Advice: "make two calls"}
		near = append(slices.DeleteFunc(near, func(o Near) bool { return o.Name == l.Text }), Near{Name: l.Text, Why: why})
	}
	return near
}

// addNear adds to d the call's near misses (see [Near]) for the names that nets wait for. A call is
// a near miss for a name if it is certain to have the name but its success will not count. It is
// also a near miss if it contains the first two words of a command with this name (see [part]) but
// does not run the command. If the call's success will count for the name, addNear adds an entry
// without a reason, which removes an earlier near miss.
func (j *judgement) addNear(d *Delta) {
	for i := range j.labels {
		l := &j.labels[i]
		if !j.policy.awaits[l.Text] {
			continue
		}
		switch {
		case l.Near:
			if why, _ := j.policy.names.Why(j.call, j.tools, l.Text); why.What != "" {
				d.Near = append(d.Near, Near{Name: l.Text, Why: why})
			}
		case l.Weak:
		case j.findings.spoiledBy(l.Text) != "":
			why := Doubt{What: fmt.Sprintf("the same call is also %s, after which %s is required again", j.findings.spoiledBy(l.Text), l.Text), Advice: "make two calls"}
			d.Near = append(d.Near, Near{Name: l.Text, Why: why})
		case slices.ContainsFunc(j.state.Near, func(n Near) bool { return n.Name == l.Text }):
			d.Near = append(d.Near, Near{Name: l.Text})
		}
	}
	for i := range j.policy.parts {
		if part := &j.policy.parts[i]; part.occursIn(j.call.Args) && !slices.ContainsFunc(j.labels, func(l naming.Label) bool { return l.Text == part.name }) {
			if why, _ := j.policy.names.Why(j.call, j.tools, part.name); why.What != "" {
				d.Near = append(d.Near, Near{Name: part.name, Why: why})
			}
		}
	}
}

// spoiledBy returns the call's other names that keep its success from counting under the given
// name; see [Transition.Spoils]. The names are joined with "and". If no such names exist, spoiledBy
// returns "".
func (fs findings) spoiledBy(name string) string {
	var by []string
	for i := range fs {
		f := &fs[i]
		if !slices.Contains(f.net.awaits, name) {
			continue
		}
		for _, c := range f.spoils() {
			if c.name != name && !slices.Contains(by, c.name) {
				by = append(by, c.name)
			}
		}
	}
	return text.And(by)
}
