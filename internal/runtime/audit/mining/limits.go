package mining

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// limits returns proposals that limit the number of calls to a tool. The limit is a number that was
// reached and never exceeded. For tools with irreversible effects, it can be a higher number that
// leaves headroom.
func (m *Miner) limits() (all []Proposal) {
	for n, t := range m.survey.tools {
		if t.sessions < m.least {
			continue
		}
		name := m.names[n]
		out := m.proposal("budget", n)
		daily, perDay := m.daily(n, t)
		if perDay > 0 {
			all = append(all, daily)
		}
		most, reached, how := ceiling(t.perSession)
		limit := most
		switch {
		case how.beats(len(m.survey.tools)) && (perDay == 0 || most < perDay): // a session limit that is not below the daily limit is unnecessary
			out.Evidence = fmt.Sprintf("%d calls of %s in %d of %d sessions, more in none", most, text.Escape(name), reached, t.sessions)
		case m.kinds[n].Acts() && perDay == 0:
			limit, how = 2*most, 0
			out.Evidence = fmt.Sprintf("%s was called at most %s in %s; the limit is twice that", text.Escape(name), times(most), text.Count(t.sessions, "session"))
		default:
			continue
		}
		out.Rule = fmt.Sprintf("limit %s to %d per session", rules.Written(name), limit)
		out.claims = []string{fmt.Sprintf("prove at-most %d %s per session", limit, rules.Written(name))}
		out.Chance = how.probability()
		all = append(all, out)
	}
	return all
}

// proposal returns a proposal of the given kind about the tool with index n. The caller must fill
// in the rule.
func (m *Miner) proposal(kind string, n int) Proposal {
	t := m.survey.tools[n]
	return Proposal{Kind: kind, tool: m.names[n], Sessions: t.sessions, Calls: t.calls, Chance: 1, Since: t.first}
}

// amounts returns proposals for tools that pay. Each proposal limits the sum spent to twice the
// maximum that any user has spent in a day.
func (m *Miner) amounts() (all []Proposal) {
	for n, t := range m.survey.tools {
		if m.kinds[n] != toolkind.Pay || t.sessions < m.least || m.cut {
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(t.sums)) {
			most := math.Ceil(t.sums[field])
			if t.fields[field] < t.calls || most < 1 || most > math.MaxInt32/2 {
				continue
			}
			p := m.proposal("budget", n)
			p.Rule = fmt.Sprintf("limit %s to %d of %s per user per day", rules.Written(m.names[n]), 2*int(most), field)
			p.Evidence = fmt.Sprintf("the %s of %s was at most %.10g for a user on a day; the limit is twice that", field, text.Escape(m.names[n]), t.sums[field])
			all = append(all, p)
		}
	}
	return all
}

// daily returns the proposal that limits a tool's calls per user and day, and the maximum number of
// calls that it allows. This number is 0 if the log supports no such limit.
func (m *Miner) daily(n int, t toolStats) (out Proposal, perDay int) {
	days := 0
	for _, c := range t.perDay {
		days += c
	}
	most, reached, how := ceiling(t.perDay)
	if days < m.least || m.cut || !how.beats(len(m.survey.tools)) {
		return out, 0
	}
	name := m.names[n]
	rule := func(count int) string {
		return fmt.Sprintf("limit %s to %d per user per day", rules.Written(name), count)
	}
	out = m.proposal("budget", n)
	out.Evidence = fmt.Sprintf("%d calls of %s by a user on %d of %d days, more on none", most, text.Escape(name), reached, days)
	out.Chance = how.probability()
	for _, count := range []int{most + (most+1)/2, 2 * most} {
		more := out
		more.Rule = rule(count)
		out.looser = append(out.looser, more)
	}
	out.Rule = rule(most)
	return out, most
}

// ceiling returns the highest number of calls in a histogram, and the number of observations with
// that many calls. The last result is the chance that all of these observations stopped there by
// accident.
func ceiling(counts map[int]int) (most, reached int, how chance) {
	for n := range counts {
		most = max(most, n)
	}
	least := func(n int) (sum int) {
		for k, c := range counts {
			if k >= n {
				sum += c
			}
		}
		return sum
	}
	reached = counts[most]
	if most < 2 {
		return most, reached, 0
	}
	went, could := 0, 0
	for k := 1; k < most; k++ {
		could, went = could+least(k), went+least(k+1)
	}
	share := func(some, of int) float64 { return float64(some+1) / float64(of+2) } // Laplace's rule of succession, because a few observations prove little
	on := min(share(went, could), share(reached, least(most-1)))
	how = chance(float64(reached) * math.Log1p(-on))
	if near := most / 4; near > 1 { // even without a limit, observations near the maximum can coincide by accident
		how = max(how, clusteredByChance(reached, least(most-near), near+1))
	}
	return most, reached, how
}

// row returns proposals that limit consecutive identical calls, or nil if the log supports no such
// limit.
func (m *Miner) row() (all []Proposal) {
	v := m.survey
	if v.rowOff || v.run == 0 || v.sessions < m.least || m.deny {
		return nil
	}
	most := max(3, v.run+2)
	looser := Proposal{Kind: "row", Sessions: v.sessions, Calls: v.calls, Chance: 1, Since: v.from}
	looser.Rule = fmt.Sprintf("limit * to %d in a row", 4*most) // allow for identical calls that the log does not show as identical, because their arguments are formatted differently
	looser.Evidence = fmt.Sprintf("the same call was made at most %s in a row in %s", times(v.run), text.Count(v.sessions, "session"))
	p := looser
	p.Rule, p.looser = fmt.Sprintf("limit * to %d in a row", most), []Proposal{looser}
	return []Proposal{p}
}

// taint returns proposals to require approval before a tool is called after untrusted content. It
// returns one proposal for each tool whose recorded calls never followed such content.
func (m *Miner) taint() (all []Proposal) {
	v := m.survey
	for b, t := range v.tools {
		if !m.kinds[b].Sends() || t.sessions < m.least {
			continue
		}
		var before []string
		var how chance
		for a, of := range v.tools {
			s := stateOf(v.pairs, pair{a, b})
			if a == b || !m.kinds[a].Untrusted() || of.sessions < m.least || s.after {
				continue
			}
			c := overlapByChance(v.sessions, of.sessions, t.sessions, s.both) + s.beforeFirst
			if c.beats(len(v.tools) * len(v.tools)) {
				before, how = append(before, rules.Written(m.names[a])), min(how, c)
			}
		}
		if len(before) == 0 {
			continue
		}
		p := m.proposal("taint", b)
		p.Rule = fmt.Sprintf("require human-approval before %s after %s", rules.Written(m.names[b]), strings.Join(before, ", "))
		p.Evidence = fmt.Sprintf("%s never came after them in %d sessions, and their results can contain text written by strangers", text.Escape(m.names[b]), t.sessions)
		p.claims = []string{fmt.Sprintf("prove never %s after %s without human-approval", rules.Written(m.names[b]), strings.Join(before, ", "))}
		p.Chance = how.probability()
		all = append(all, p)
	}
	return all
}
