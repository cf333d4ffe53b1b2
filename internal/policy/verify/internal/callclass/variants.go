package callclass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/naming"
)

// add adds the classes of calls with the arguments that f describes, except those equivalent to
// existing classes.
func (b *Enumerator) add(tool string, f *form) {
	if b.clock.tick() {
		return
	}
	for _, s := range b.variants(tool, f) {
		if i := b.classes.NumberOf([]byte(b.keyOf(s, f)), s); b.classes.List[i].Unsure() && !s.Unsure() {
			b.classes.List[i] = s // prefer an equivalent class with known arguments
		}
	}
}

// variants returns the classes of calls with the arguments described by f. The classes differ in
// whether each field that keys read has the tracked value, another value, or no value.
func (b *Enumerator) variants(tool string, f *form) []*Class {
	s := b.class(tool, f)
	data, why := b.data(s)
	if why != "" {
		b.addGap(tool, why, tool)
	}
	if len(data) == 0 {
		b.findWitness(s, f)
		s.lacking = b.unlistedArg(s, f)
		return []*Class{s}
	}
	var all []*Class
	eachPresence(data, func(data []Datum) {
		if v := *s; f.permitsLack(data) {
			v.Data = data
			b.project(&v)
			b.findWitness(&v, f)
			v.lacking = b.unlistedArg(&v, f)
			all = append(all, &v)
		}
	})
	exchange(all)
	return all
}

// project reduces the effects of s on nets with a key to the parts that concern the tracked value.
// It also recomputes s.BlockedBy.
func (b *vocabulary) project(s *Class) {
	effects := s.Effects
	s.Effects, s.BlockedBy = nil, nil
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
		if n.alwaysBlocks(m) {
			s.BlockedBy = append(s.BlockedBy, n.Index)
		}
	}
}

// class returns the class of calls with the arguments that f describes, ignoring keys. It does not
// construct the arguments.
func (b *Enumerator) class(tool string, f *form) *Class {
	s := &Class{Tool: tool, supposed: b.supposed[tool]}
	policy := b.naming.labels(f)
	all := slices.DeleteFunc(slices.Clone(policy), func(l naming.Label) bool { return l.Glob > 0 })
	for _, n := range b.nets {
		ls := policy
		if n.Info.Labels == nil {
			ls = n.names(f)
			for _, l := range ls {
				if l.Glob == 0 {
					all = naming.Add(all, l)
				}
			}
		}
		if n.Info.Shadow {
			continue // shadow nets do not affect calls
		}
		if n.knows(ls) || n.Info.MatchFirst && n.Info.Labels == nil && n.knows(f.tools) {
			s.KnownTo = append(s.KnownTo, n.Index)
		}
		e := n.meaning(ls)
		if n.Info.Row {
			if !n.admitsInitially(e) {
				b.addGap("", "the net %s counts calls in a row, but does not admit every call in its initial marking", n.Info.Name)
			}
			continue // the net limits only consecutive identical calls, so it would admit a call with different arguments
		}
		if len(e) > 0 {
			s.Effects = append(s.Effects, Effect{n.Index, n.intern(e)})
			if n.alwaysBlocks(e) {
				s.BlockedBy = append(s.BlockedBy, n.Index)
			}
		}
	}
	s.labels = naming.WithPatterns(all, b.naming.Patterns())
	return s
}

// keyOf returns a key that covers all properties of the class that nets and assertions can see.
func (b *vocabulary) keyOf(s *Class, f *form) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%q", s.Tool)
	b.appendNames(&key, b.naming.labels(f))
	for _, n := range b.nets {
		if n.Info.Labels == nil {
			b.appendNames(&key, n.names(f))
		}
	}
	b.appendNames(&key, s.labels) // the names that assertions see
	for _, d := range s.Data {
		fmt.Fprintf(&key, "%d", d.Has)
	}
	for _, t := range s.Effects {
		fmt.Fprintf(&key, "%d:%d,", t.Net, t.Meaning)
	}
	return key.String()
}

// appendNames appends to key all properties of the names that nets and assertions can see.
func (b *vocabulary) appendNames(key *strings.Builder, ls []naming.Label) {
	key.WriteByte('|')
	for _, l := range ls {
		if b.listed[l.Text] || l.Glob > 0 {
			fmt.Fprintf(key, "%q%v%v%d%d,", l.Text, l.Weak, l.Certain, l.Glob, l.From)
		}
	}
}
