package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// whyMissed returns the reason why the net cannot be evaluated for the current call, or "" if it
// can. The call's record e contains only the values that its own policy (e.Policy) needed, so
// values that the net reads may be missing.
func (r *Replay) whyMissed(n *netInfo, e *trail.Entry) string {
	if n.opaque {
		return fmt.Sprintf("the net %s reads arguments that are not recorded", n.name)
	}
	same := e.Policy == r.report.Policy
	under := r.policies[e.Policy]
	if n.row && e.Row == "" {
		return fmt.Sprintf("the record does not show which calls are equal, which the net %s needs", n.name)
	}
	for _, f := range n.keys {
		if v := r.current.values[f]; v.Lacks != "" || !same && !under.fields[f] {
			return fmt.Sprintf("the record lacks the values of %s, which the net %s reads", f, n.name)
		}
	}
	for _, f := range n.sums {
		if v := r.current.values[sumOf(f)]; v.Lacks != "" || !same && !under.fields[f] {
			return fmt.Sprintf("the record lacks the amount of %s, which the net %s sums", f, n.name)
		}
	}
	for _, f := range n.results {
		if !same && !under.results[f] {
			return fmt.Sprintf("the records lack %s of results, which the net %s reads", f, n.name)
		}
	}
	return ""
}

// unknownNames returns names that the call might or might not have under the replayed policy,
// because the record lacks data. It maps each name to the reason. If the record omits some names of
// the call, any name is possible, and the result contains only the key "".
func (r *Replay) unknownNames(e *trail.Entry) map[string]string {
	if e.Omitted > 0 {
		return map[string]string{"": "the record lacks some names of the call"}
	}
	if e.Policy == r.report.Policy {
		return nil
	}
	missing := map[string]string{}
	under, own := r.policies[e.Policy], ownNames(e)
	for _, m := range r.current.maps {
		about := slices.ContainsFunc(own, func(tool string) bool {
			return tool == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, tool)
		})
		if about && !under.maps[admission.MapID(&m)] {
			missing[m.As] = fmt.Sprintf("the record does not show whether the map of %s to %s matches", m.Tool, m.As)
		}
	}
	for _, n := range r.nets {
		for _, t := range n.mentions {
			if dot := strings.LastIndexByte(t.Name, '.'); dot > 0 && t.Kind != gate.Literal && !under.actions[audit.Bounded(t.Name)] && slices.Contains(own, t.Name[:dot]) && !slices.Contains(own, t.Name) {
				missing[t.Name] = fmt.Sprintf("the record does not show whether the action is %s", t.Name)
			}
		}
	}
	return missing
}

// ownNames returns the recorded names of the call that do not depend on its arguments.
func ownNames(e *trail.Entry) []string {
	return e.Names[:min(max(e.Own, 1), len(e.Names))]
}

// hasAllArguments reports whether the record shows all arguments of the call. A call without
// arguments is recognized by its recorded hash.
func (r *Replay) hasAllArguments(e *trail.Entry) bool {
	if len(e.Args) == 0 {
		none := e.Arguments == audit.HashOf("") || e.Arguments == audit.HashOf("{}")
		return none && (e.Row == "" || r.policies[e.Policy].full)
	}
	return !bytes.Contains(e.Args, []byte(`"***`))
}

// reconstruct returns the recorded call and stores it in r.current. It also returns the nets that
// cannot be evaluated for the call, each with the reason. If the call's names are unknown, it
// returns all nets.
func (r *Replay) reconstruct(e *trail.Entry) (c gate.Call, gone map[int]string) {
	c = gate.Call{Time: e.Time, Upstream: e.Upstream}
	if !e.Called.IsZero() {
		c.Time = e.Called
	}
	r.current.read(e.Values)
	r.name(&c, e)
	gone = map[int]string{}
	if r.hasAllArguments(e) {
		c.Args = e.Args
		if len(e.Args) == 0 && e.Arguments == audit.HashOf("{}") {
			c.Args = []byte("{}")
		}
		r.current.read((&audit.Redactor{}).Values(r.reads.Call(&c)))
		r.current.names = map[string]gate.Name{}
		for _, n := range r.original.Names(c) {
			r.current.names[n.Text] = n
		}
		return c, gone
	}
	unnamed := r.unknownNames(e)
	for i := range r.nets {
		n := &r.nets[i]
		if why := n.affectedBy(unnamed); why != "" {
			gone[i] = why
		} else if n.concerns(r.current.names) {
			if m := r.whyMissed(n, e); m != "" {
				gone[i] = m
			}
		}
	}
	return c, gone
}

// name gives the reconstructed call c its recorded names.
func (r *Replay) name(c *gate.Call, e *trail.Entry) {
	r.current.names = make(map[string]gate.Name, len(e.Names))
	for _, text := range e.Names {
		r.current.names[text] = gate.Name{Text: text, Certain: !slices.Contains(e.Uncertain, text), Weak: slices.Contains(e.Weak, text)}
	}
	own := ownNames(e)
	for i, text := range own {
		n := r.current.names[text]
		if i == 0 {
			c.Tool, c.Foreign = text, n.Weak
			continue
		}
		c.Also = append(c.Also, n)
	}
	c.Args = r.actionArgs(c, e, own)
}

// actionArgs returns arguments for the reconstructed call. If the record contains a name of the
// form TOOL.ACTION, the arguments have a member "action" that gives this name to the call.
// Identical calls get equal arguments.
func (r *Replay) actionArgs(c *gate.Call, e *trail.Entry, own []string) []byte {
	args := map[string]any{}
	if e.Row != "" {
		args["row"] = e.Row
	}
	for _, text := range e.Names[len(own):] {
		mapped := slices.ContainsFunc(r.current.maps, func(m gate.Map) bool { return m.As == text })
		i := slices.IndexFunc(own, func(tool string) bool { return strings.HasPrefix(text, tool+".") })
		if i < 0 || mapped {
			continue
		}
		n, tool := r.current.names[text], r.current.names[own[i]]
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
	b, err := json.Marshal(args)
	if err != nil {
		return []byte("{}")
	}
	return b
}
