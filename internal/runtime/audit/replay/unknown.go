package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// netInfo is what a net needs of a record.
type netInfo struct {
	name     string
	opaque   bool
	advisory bool
	keys     []string // fields of arguments
	sums     []string
	results  []string
	tools    []gate.Tool
	mentions []gate.Tool // also where it exempts
	always   bool        // it can be about every call
	row      bool        // it counts equal calls in a row
}

// inspect says what the nets need.
func (r *Replay) inspect(nets []gate.Net) (all []netInfo) {
	for i := range nets {
		n := &nets[i]
		info := netInfo{name: r.policy.Nets()[i].Name, opaque: admission.Opaque(n), advisory: n.Advisory, row: n.Row, mentions: gate.Tools(n.Free...)}
		info.always = n.Row || len(n.Phases) > 0 || n.Labels == nil && (n.Mapper != nil || len(n.Maps) > 0)
		info.read(r, n.Key)
		for k := range n.Transitions {
			t := &n.Transitions[k]
			info.read(r, t.Key)
			info.tools = append(info.tools, t.Tools...)
			info.mentions = append(append(info.mentions, t.Tools...), t.Unless...)
			for _, u := range t.Tools {
				info.mentions = append(info.mentions, gate.Tool{Name: u.Except})
			}
		}
		if n.Sum != nil {
			info.sums = append(info.sums, audit.Bounded(n.Sum.Field.Name()))
		}
		all = append(all, info)
	}
	return all
}

func (n *netInfo) read(r *Replay, key []gate.Field) {
	for _, f := range key {
		name := audit.Bounded(r.reads.Name(f))
		if f.Result {
			n.results = append(n.results, name)
		} else {
			n.keys = append(n.keys, name)
		}
	}
}

// concerns reports whether the net can be about a call with these names.
func (n *netInfo) concerns(names map[string]gate.Name) bool {
	if n.always {
		return true
	}
	return among(n.tools, names)
}

// among reports whether one of the names is, or matches, one of the tools.
func among(tools []gate.Tool, names map[string]gate.Name) bool {
	return slices.ContainsFunc(tools, func(t gate.Tool) bool {
		if t.Kind != gate.Glob {
			_, ok := names[t.Name]
			return ok
		}
		for name := range names {
			if toolnet.MatchGlob(t.Name, name) {
				return true
			}
		}
		return false
	})
}

// missing says why the net cannot be asked about the call of the stand, which was decided under
// the policy of e; empty: it can.
func (r *Replay) missing(n *netInfo, e *trail.Entry) string {
	if n.opaque {
		return fmt.Sprintf("the net %s reads more of the arguments than the record has", n.name)
	}
	same := e.Policy == r.report.Policy
	under := r.known[e.Policy]
	if n.row && e.Row == "" {
		return fmt.Sprintf("the record does not say which calls are equal, as the net %s counts them", n.name)
	}
	for _, f := range n.keys {
		if v := r.stand.values[f]; v.Lacks != "" || !same && !under.fields[f] {
			return fmt.Sprintf("the record does not have the values of %s, which the net %s reads", f, n.name)
		}
	}
	for _, f := range n.sums {
		if v := r.stand.values[sumOf(f)]; v.Lacks != "" || !same && !under.fields[f] {
			return fmt.Sprintf("the record does not have the amount of %s, which the net %s sums", f, n.name)
		}
	}
	for _, f := range n.results {
		if !same && !under.results[f] {
			return fmt.Sprintf("the records do not have %s of results, which the net %s reads", f, n.name)
		}
	}
	return ""
}

// unnamed are names that the policy could give the call and the record does not say, each with
// the reason. An empty name stands for any.
func (r *Replay) unnamed(e *trail.Entry) map[string]string {
	if e.Omitted > 0 {
		return map[string]string{"": "the record does not have all names of the call"}
	}
	if e.Policy == r.report.Policy {
		return nil
	}
	missing := map[string]string{}
	under, own := r.known[e.Policy], ownNames(e)
	for _, m := range r.stand.maps {
		about := slices.ContainsFunc(own, func(tool string) bool {
			return tool == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, tool)
		})
		if about && !under.maps[admission.MapID(&m)] {
			missing[m.As] = fmt.Sprintf("the record does not say whether the map of %s to %s matches", m.Tool, m.As)
		}
	}
	for _, n := range r.nets {
		for _, t := range n.mentions {
			if dot := strings.LastIndexByte(t.Name, '.'); dot > 0 && t.Kind != gate.Literal && !under.actions[audit.Bounded(t.Name)] && slices.Contains(own, t.Name[:dot]) && !slices.Contains(own, t.Name) {
				missing[t.Name] = fmt.Sprintf("the record does not say whether the action is %s", t.Name)
			}
		}
	}
	return missing
}

// unnames says why the net cannot be asked about a call that may have these names; empty: it
// does not depend on them.
func (n *netInfo) unnames(missing map[string]string) string {
	for name, why := range missing {
		if name == "" || n.always || among(n.mentions, map[string]gate.Name{name: {}}) {
			return why
		}
	}
	return ""
}

// ownNames are the names on record that do not depend on the arguments.
func ownNames(e *trail.Entry) []string {
	return e.Names[:min(max(e.Own, 1), len(e.Names))]
}

// whole reports whether the record has all arguments. Those of calls without any are known by
// their hash.
func (r *Replay) whole(e *trail.Entry) bool {
	if len(e.Args) == 0 {
		none := e.Arguments == audit.HashOf("") || e.Arguments == audit.HashOf("{}")
		return none && (e.Row == "" || r.known[e.Policy].full)
	}
	return !bytes.Contains(e.Args, []byte(`"***`))
}

// call makes the call of a record, and sets the stand. It returns the nets that cannot be asked
// about it, with the reasons; all of them where no name is known.
func (r *Replay) call(e *trail.Entry) (c gate.Call, gone map[int]string) {
	c = gate.Call{Time: e.Time, Upstream: e.Upstream}
	if !e.Called.IsZero() {
		c.Time = e.Called
	}
	r.stand.read(e.Values)
	r.name(&c, e)
	gone = map[int]string{}
	if r.whole(e) {
		c.Args = e.Args
		if len(e.Args) == 0 && e.Arguments == audit.HashOf("{}") {
			c.Args = []byte("{}")
		}
		r.stand.read((&audit.Redactor{}).Values(r.reads.Call(&c)))
		r.stand.names = map[string]gate.Name{}
		for _, n := range r.original.Names(c) {
			r.stand.names[n.Text] = n
		}
		return c, gone
	}
	unnamed := r.unnamed(e)
	for i := range r.nets {
		n := &r.nets[i]
		if why := n.unnames(unnamed); why != "" {
			gone[i] = why
		} else if n.concerns(r.stand.names) {
			if m := r.missing(n, e); m != "" {
				gone[i] = m
			}
		}
	}
	return c, gone
}

// name gives the call the names on record.
func (r *Replay) name(c *gate.Call, e *trail.Entry) {
	r.stand.names = make(map[string]gate.Name, len(e.Names))
	for _, text := range e.Names {
		r.stand.names[text] = gate.Name{Text: text, Certain: !slices.Contains(e.Uncertain, text), Weak: slices.Contains(e.Weak, text)}
	}
	own := ownNames(e)
	for i, text := range own {
		n := r.stand.names[text]
		if i == 0 {
			c.Tool, c.Foreign = text, n.Weak
			continue
		}
		c.Also = append(c.Also, n)
	}
	c.Args = r.action(c, e, own)
}

// action makes arguments that stand for those of the record: with the action by which the call
// got a name, and equal to those of equal calls.
func (r *Replay) action(c *gate.Call, e *trail.Entry, own []string) []byte {
	args := map[string]any{}
	if e.Row != "" {
		args["row"] = e.Row
	}
	for _, text := range e.Names[len(own):] {
		mapped := slices.ContainsFunc(r.stand.maps, func(m gate.Map) bool { return m.As == text })
		i := slices.IndexFunc(own, func(tool string) bool { return strings.HasPrefix(text, tool+".") })
		if i < 0 || mapped {
			continue
		}
		n, tool := r.stand.names[text], r.stand.names[own[i]]
		action := text[len(own[i])+1:]
		if tool.Certain && !n.Certain {
			args["action"] = []string{action}
			continue
		}
		args["action"] = action
		if n.Weak && !tool.Weak {
			c.Others = map[string]bool{text: true}
		}
	}
	return object(args)
}
