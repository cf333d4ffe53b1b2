package rules

import (
	"slices"
	"strings"
)

// isOneOf reports whether every call with the first name also has the second name.
func (l *labels) isOneOf(n, other Name) bool {
	return n.same(other) || l.covers(other, n) || other.Glob() && !n.Glob() && other.Matches(n.Text)
}

// covers reports whether every call named b is also named a. It recognizes three cases: the names
// are equal, b is an action of the tool a, or map statements give the name b only to calls named a.
func (l *labels) covers(a, b Name) bool {
	if a.Glob() || b.Glob() {
		return false
	}
	if a.Text == b.Text && (!a.Quoted || !strings.Contains(b.Text, ".")) {
		return true
	}
	if !b.Quoted && strings.HasPrefix(b.Text, a.Text+".") && !strings.Contains(a.Text, ".") {
		return true
	}
	maps := l.maps[b.Text]
	for _, m := range maps {
		if (m.tool().Text != a.Text || m.tool().Glob()) && !l.alsoLabels(m, a.Text) {
			return false
		}
	}
	return len(maps) > 0
}

// alsoLabels reports whether every call that matches the map statement m gets the given name, too.
// It looks for a map statement that gives this name and matches whenever m does.
func (l *labels) alsoLabels(m *Map, label string) bool {
	return slices.ContainsFunc(l.maps[label], func(other *Map) bool {
		return other.tool().Text == m.tool().Text && other.Field == m.Field && other.Pattern.includes(m.Pattern)
	})
}

// includes reports whether p matches whenever q does. It returns true if the patterns are equal, or
// if both look for the same command and q narrows it with more words.
func (p Pattern) includes(q Pattern) bool {
	if p.Kind != Runs || q.Kind != Runs {
		return p.String() == q.String()
	}
	words := p.command()
	if words[0] != q.Words[0] {
		return false
	}
	found := 0
	for _, w := range q.Words {
		if found < len(words) && w == words[found] {
			found++
		}
	}
	return found == len(words)
}

// allNamed reports whether map statements give the name n to calls, and only to calls that are also
// named b.
func (l *labels) allNamed(n, b Name) bool {
	other := func(m *Map) bool {
		if m.tool().Glob() {
			return b.Text != "*" && !b.same(m.tool())
		}
		return !b.Matches(m.tool().Text)
	}
	maps := l.maps[n.Text]
	return len(maps) > 0 && !slices.ContainsFunc(maps, other)
}

// excludes reports whether calls named n can be exempt from a rule that requires n before calls
// that match the pattern. Only calls that certainly have this name are exempt; see
// [Require.waitingCall].
func (l *labels) excludes(n, pattern Name) bool {
	return pattern.Glob() && slices.ContainsFunc(l.maps[n.Text], (*Map).exempts)
}

// alsoNamed reports whether every call with the first name also has the second. It returns false if
// the names are equal, or if map statements do not give both of them to calls.
func (l *labels) alsoNamed(n, other Name) bool {
	return n.Text != other.Text && l.maps[n.Text] != nil && l.maps[other.Text] != nil && l.covers(other, n)
}

// exempts reports whether the rule exempts calls with the given name.
func (r *Rule) exempts(n Name) bool {
	return slices.ContainsFunc(r.Unless, func(u Name) bool { return u.Matches(n.Text) })
}
