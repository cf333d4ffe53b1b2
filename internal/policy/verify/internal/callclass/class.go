package callclass

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Class is a kind of call: a physical tool with the names that a single real call can have
// together.
type Class struct {
	Tool     string
	Args     string   // JSON of a witness; empty: {}
	Doubtful bool     // no arguments are known that have exactly these names
	supposed bool     // the tool might not exist
	lacking  string   // argument of the calls that the tool's schema does not list; empty: none
	labels   []label  // labels of the policy, then those that nets' own maps add, then patterns that match a label
	Effects  []Effect // at most one per net
	Knowers  []int    // nets that know the call, for a default that denies unknown calls
	Waits    bool     // not a call: time passes and the clock fires a transition
	Wait     time.Duration
	Shut     []int // nets that block the class in every state
	Data     []Datum
	Spends   bool // every known call of the class adds something to the sums of nets

	of        *recipe  // how to build its arguments
	exchanged *Class   // see [Class.Exchanged]
	alike     []*Class // the same call with every presence of the tracked value in its fields
}

// An Effect is the number of the [Meaning] that a class has for one net.
type Effect struct{ Net, Meaning int }

// Carries reports whether a call of the class has the name. If evidence is true, the name must
// count as evidence, and not only as a restriction.
func (s *Class) Carries(t gate.Tool, evidence bool) bool {
	return slices.ContainsFunc(s.labels, func(l label) bool {
		switch {
		case l.text != t.Name || (l.glob > 0) != (t.Kind == gate.Glob) || evidence && l.weak:
			return false
		case t.Kind == gate.Literal:
			return !l.actionOnly()
		}
		return true
	})
}

// Certainly reports whether every call of the class certainly has the name.
func (s *Class) Certainly(t gate.Tool) bool {
	return slices.ContainsFunc(s.labels, func(l label) bool {
		return l.certain && l.text == t.Name && (l.glob > 0) == (t.Kind == gate.Glob) && !(t.Kind == gate.Literal && l.actionOnly())
	})
}

// Unsure reports whether it is unknown that such a call can be made.
func (s *Class) Unsure() bool { return s.Doubtful || s.supposed || s.lacking != "" }

// Nets returns the nets that the class affects.
func (s *Class) Nets() []int {
	var out []int
	for _, t := range s.Effects {
		out = append(out, t.Net)
	}
	return out
}

// Name returns a readable name: the last label, or the tool.
func (s *Class) Name() string {
	if s.Waits {
		return "time passes"
	}
	name := s.Tool
	for _, l := range s.labels {
		if l.glob == 0 && l.from&fromTool == 0 {
			name = l.text
		}
	}
	return name
}

// Mapped returns the names that maps give to calls of the class. ok is false if the calls have
// other names that no tool has, or if keys read the calls, since nets then see more than names.
func (s *Class) Mapped() (names []gate.Name, ok bool) {
	for _, l := range s.labels {
		switch {
		case l.glob > 0 || l.from&fromTool != 0: // implied by the names of the tool and of maps
		case l.from&fromAction != 0:
			return nil, false
		default:
			names = append(names, gate.Name{Text: l.text, Certain: l.certain, Weak: l.weak})
		}
	}
	return names, len(s.Data) == 0
}

// Weakly reports whether the call has the name, but not as evidence.
func (s *Class) Weakly(name string) bool {
	return slices.ContainsFunc(s.labels, func(l label) bool { return l.glob == 0 && l.text == name && l.weak })
}

// enumerateTool adds the classes of one tool: every combination of values of its fields. If there
// are too many, it adds some and defers the rest.
func (b *Enumerator) enumerateTool(tool string, also []gate.Name) {
	base := []label{{text: tool, from: fromTool, certain: true}}
	for _, a := range also {
		base = add(base, label{text: a.Text, from: fromTool, certain: a.Certain, weak: a.Weak})
	}
	var options [][]*value
	count := 1
	for _, f := range b.fields(base) {
		values, ok := b.values(f, base)
		options = append(options, append([]*value{nil}, values...))
		if count *= 1 + len(values); !ok || count > maxClassesOfTool {
			b.deferTool(tool, base)
			return
		}
	}
	eachForm(base, options, count, func(f *form) { b.add(tool, f) })
}

// eachForm calls do with every choice of one value for each field.
func eachForm(base []label, options [][]*value, count int, do func(*form)) {
	for k := range count {
		f := &form{tools: base}
		for i := range options {
			if v := options[i][k%len(options[i])]; v != nil {
				f.fields = append(f.fields, *v)
			}
			k /= len(options[i])
		}
		do(f)
	}
}

// fields returns the names of the fields of the tool that some map or action rule reads.
func (b *Enumerator) fields(tools []label) []string {
	var fields []string
	for _, m := range b.maps {
		if m.appliesTo(tools) {
			fields = include(fields, m.Field)
		}
	}
	for _, t := range tools {
		if len(b.action[t.text]) > 0 {
			fields = include(fields, "action")
		}
	}
	return fields
}

// appliesTo reports whether the map applies to a tool with these names.
func (m *mapping) appliesTo(tools []label) bool {
	return slices.ContainsFunc(tools, func(l label) bool { return m.matchesTool(l.text) })
}

// matchesTool reports whether the map applies to tools of that name.
func (m *mapping) matchesTool(tool string) bool {
	return tool == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, tool)
}

// add adds the classes of a form, unless equivalent classes exist.
func (b *Enumerator) add(tool string, f *form) {
	if b.clock.tick() {
		return
	}
	for _, s := range b.variants(tool, f) {
		if i := b.classes.Of([]byte(b.keyOf(s, f)), s); b.classes.List[i].Unsure() && !s.Unsure() {
			b.classes.List[i] = s // prefer an equivalent class with known arguments
		}
	}
}

// variants returns the classes of a form, one for each presence of the tracked value in the fields
// that keys read.
func (b *Enumerator) variants(tool string, f *form) []*Class {
	s := b.class(tool, f)
	data, why := b.data(s)
	if why != "" {
		b.addGap(tool, why, tool)
	}
	if len(data) == 0 {
		b.findWitness(s, f)
		s.lacking = b.lacking(s, f)
		return []*Class{s}
	}
	var all []*Class
	eachPresence(data, func(data []Datum) {
		if v := *s; f.permits(data) {
			v.Data = data
			b.project(&v)
			b.findWitness(&v, f)
			v.lacking = b.lacking(&v, f)
			all = append(all, &v)
		}
	})
	exchange(all)
	return all
}

// project replaces the effects on nets with a key by the effects on the tracked value.
func (b *Enumerator) project(s *Class) {
	effects := s.Effects
	s.Effects, s.Shut = nil, nil
	for _, e := range effects {
		n := b.nets[e.Net]
		m := n.Meanings.List[e.Meaning]
		if n.Keyed() {
			if m = n.project(m, s); len(m) == 0 {
				continue
			}
			e.Meaning = n.intern(m)
		}
		s.Effects = append(s.Effects, e)
		if n.shut(m) {
			s.Shut = append(s.Shut, n.Index)
		}
	}
}

// class returns the class of a form, without regard to keys and without arguments.
func (b *Enumerator) class(tool string, f *form) *Class {
	s := &Class{Tool: tool, supposed: b.supposed[tool]}
	policy := b.naming.labels(f)
	all := slices.DeleteFunc(slices.Clone(policy), func(l label) bool { return l.glob > 0 })
	for _, n := range b.nets {
		ls := policy
		if n.Info.Labels == nil {
			ls = n.own(f)
			for _, l := range ls {
				if l.glob == 0 {
					all = add(all, l)
				}
			}
		}
		if n.Info.Shadow {
			continue // shadow nets do not affect calls
		}
		if n.knows(ls) || n.Info.MatchFirst && n.Info.Labels == nil && n.knows(f.tools) {
			s.Knowers = append(s.Knowers, n.Index)
		}
		e := n.meaning(ls)
		if n.Info.Row {
			if !n.begins(e) {
				b.addGap("", "the net %s counts calls in a row, and does not let each of them begin", n.Info.Name)
			}
			continue // with other arguments, the net admits any call
		}
		if len(e) > 0 {
			s.Effects = append(s.Effects, Effect{n.Index, n.intern(e)})
			if n.shut(e) {
				s.Shut = append(s.Shut, n.Index)
			}
		}
	}
	s.labels = patterned(all, b.naming.globs)
	return s
}

// keyOf returns what distinguishes the class for nets and assertions.
func (b *Enumerator) keyOf(s *Class, f *form) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%q", s.Tool)
	b.appendNames(&key, b.naming.labels(f))
	for _, n := range b.nets {
		if n.Info.Labels == nil {
			b.appendNames(&key, n.own(f))
		}
	}
	b.appendNames(&key, s.labels) // as assertions see them
	for _, d := range s.Data {
		fmt.Fprintf(&key, "%d", d.Has)
	}
	for _, t := range s.Effects { // exemptions are visible in the effects
		fmt.Fprintf(&key, "%d:%d,", t.Net, t.Meaning)
	}
	return key.String()
}

// appendNames appends what nets and assertions can see of names.
func (b *Enumerator) appendNames(key *strings.Builder, ls []label) {
	key.WriteByte('|')
	for _, l := range ls {
		if b.listed[l.text] || l.glob > 0 {
			fmt.Fprintf(key, "%q%v%v%d%d,", l.text, l.weak, l.certain, l.glob, l.from)
		}
	}
}

// put sets a field of the arguments, or the member that a plain path leads to. It reports whether
// the content fits there.
func put(object map[string]any, field string, content any) bool {
	path, deep := strings.CutPrefix(field, "$.")
	if !isPath(field) {
		_, taken := object[field] // already set by a path into the field
		object[field] = content
		return !taken
	}
	if !deep || strings.ContainsAny(path, `["`) {
		return false
	}
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		if object[key] == nil {
			object[key] = make(map[string]any)
		}
		inner, ok := object[key].(map[string]any)
		if !ok {
			return false
		}
		object = inner
	}
	last := keys[len(keys)-1]
	if object[last] != nil {
		return false
	}
	object[last] = content
	return true
}

// Concerns reports whether a call of the class affects the net.
func (s *Class) Concerns(net int) bool { return s.MeaningIn(net) >= 0 }

// MeaningIn returns the number of the meaning of the call for the net, or -1.
func (s *Class) MeaningIn(net int) int {
	for _, t := range s.Effects {
		if t.Net == net {
			return t.Meaning
		}
	}
	return -1
}
