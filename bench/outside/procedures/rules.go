package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxClauses is the maximum number of clauses in the condition of a procedure. Each clause becomes
// a rule.
const maxClauses = 200

// clauses converts the tree to conjunctive normal form, an AND of ORs of functions.
func (t *tree) clauses() [][]*tree {
	switch {
	case t == nil:
		return nil
	case t.Op == "":
		return [][]*tree{{t}}
	case t.Op == "and":
		var all [][]*tree
		for _, k := range t.Kids {
			all = append(all, k.clauses()...)
		}
		return all
	}
	all := [][]*tree{nil}
	for _, k := range t.Kids {
		var next [][]*tree
		for _, a := range all {
			for _, b := range k.clauses() {
				next = append(next, slices.Concat(a, b))
			}
		}
		all = next
	}
	return all
}

// rules formats the procedures as rules, one per line. It also returns the number of rules that are
// weaker than their procedures; see [procedure.rule].
func (d domain) rules() (text string, loose int, err error) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d)) {
		p := d[name]
		clauses := p.Needs.clauses()
		if len(clauses) > maxClauses {
			return "", 0, fmt.Errorf("%s: %d rules are too many", name, len(clauses))
		}
		seen := make(map[string]bool)
		for _, c := range clauses {
			rule, left := p.rule(c)
			if !seen[rule] {
				seen[rule] = true
				b.WriteString(rule + "\n")
				if left {
					loose++
				}
			}
		}
	}
	return b.String(), loose, nil
}

// rule formats a clause as a rule: before a call to p.Function, a call to one of the clause's
// functions must succeed. The rule compares a parameter only if the procedure compares it for every
// function in the clause. If this leaves out a parameter, the rule is weaker than the procedure,
// and loose is true.
func (p *procedure) rule(clause []*tree) (text string, loose bool) {
	var names []string
	var common []string // parameters shared by all functions so far, in rule syntax
	for i, t := range clause {
		if !slices.Contains(names, t.Function) {
			names = append(names, t.Function)
		}
		fields := p.shared(t)
		if i == 0 {
			common = fields
		}
		both := slices.DeleteFunc(slices.Clone(common), func(f string) bool { return !slices.Contains(fields, f) })
		loose = loose || len(both) < len(common) || len(both) < len(fields)
		common = both
	}
	slices.Sort(names)
	text = fmt.Sprintf("require %s before %s once", strings.Join(names, " or "), p.Function)
	if len(common) > 0 {
		text += " with same " + strings.Join(common, ", ")
	}
	return text, loose
}

// shared returns, in rule syntax, the parameters of t.Function that must have the same values as
// parameters of p.Function.
func (p *procedure) shared(t *tree) []string {
	var fields []string
	for _, first := range slices.Sorted(maps.Keys(t.Vars)) {
		for _, second := range slices.Sorted(maps.Keys(p.Vars)) {
			if t.Vars[first] != p.Vars[second] {
				continue
			}
			if first == second {
				fields = append(fields, first)
			} else {
				fields = append(fields, first+" as "+second)
			}
			break
		}
	}
	return fields
}
