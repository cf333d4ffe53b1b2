package rules

import (
	"slices"

	"github.com/petrigate/petrigate/internal/text"
)

func (c *compiler) checkRequire(s *Require) {
	if n := s.pairs(); n > maxPairs {
		first := s.Before[maxPairs*len(s.Before)/n] // first name that makes the number of pairs too large
		c.failName(s, first, ManyPairs, "write a pattern, such as git_*, for names that belong together",
			"the lists form %d pairs, each with its own net; a statement can form at most %d", n, maxPairs)
		return
	}
	for _, before := range s.Before {
		c.checkPairs(s, before)
	}
	for _, first := range s.First {
		if !first.Quoted && likeApproval(first.Text) {
			c.warnName(first, KeywordLike, `write human-approval to require approval`, "the rule requires a call to %s, not an approval", first)
		}
		c.checkEvidence(first, "unlocks "+joinNames(s.Before))
		c.checkSince(s, first, "%s is one of %s: each call to it cancels its own success, so %s stays locked", joinNames(s.Before))
	}
	own := "%s is one of %s: each call to %s needs its own success anyway"
	if s.Once {
		own = "%s is one of %s: each call to %s cancels the success, so once has no effect"
	}
	for _, before := range s.Before {
		c.checkSince(s, before, own, before.String())
	}
}

// checkPairs warns if a call that must wait can never pass. This happens if the required calls have
// the same name, because they must then wait themselves.
func (c *compiler) checkPairs(s *Require, before Name) {
	var own []Name // required calls that must wait themselves
	for _, first := range s.First {
		// A required call that is exempt because of "unless" need not wait.
		is := len(s.Unless) == 0 && (first.same(before) || !before.Glob() && c.labels.isOneOf(first, before))
		itself := is || c.labels.allNamed(first, before) && !c.labels.excludes(first, before) || c.labels.alsoNamed(first, before)
		if !itself || s.exempts(first) {
			continue
		}
		if own = append(own, first); !s.Or {
			c.warnLocked(s, before, first)
		}
	}
	if s.Or && len(own) == len(s.First) {
		c.warnLocked(s, before, own...)
	}
}

// warnLocked warns that a call can never pass. Every call that would unlock it must itself wait.
func (c *compiler) warnLocked(s *Require, before Name, own ...Name) {
	switch names := text.Join(nameTexts(own), "or"); {
	case len(own) == 1 && own[0].same(before):
		c.warn(s, SelfRequire, "name the call that must succeed first", "%s is required before itself, so no call to it ever passes", before)
	case slices.ContainsFunc(own, before.same):
		c.warn(s, SelfRequire, "name a call that must succeed first", "every call to %s is also a call to %s, so none ever passes", names, before)
	default:
		c.warn(s, Locked, "", "%s stays locked: every call to %s is also a call to %s", before, names, before)
	}
}

// checkSince warns if every call to n is also a call to one of the names after "since". Such a call
// cancels a success that the rule requires. The warning is formatted with three arguments: n, the
// name after "since", and last.
func (c *compiler) checkSince(s *Require, n Name, format, last string) {
	for _, spoiler := range s.Since {
		if c.labels.isOneOf(n, spoiler) {
			c.warnName(spoiler, SelfSpoil, "", format, n, spoiler, last)
		}
	}
}

// checkUntil warns about a rule that begins and ends with the same call.
func (c *compiler) checkUntil(after, until []Name) {
	for _, n := range until {
		if slices.ContainsFunc(after, n.same) {
			c.warnName(n, EndsItself, "", "%s both starts and ends the rule", n)
		}
	}
}

// checkLocked warns if a rule blocks the very call that is meant to end it.
func (c *compiler) checkLocked(blocked, until []Name) {
	for _, n := range until {
		for _, b := range blocked {
			if !b.Glob() && c.labels.isOneOf(n, b) {
				c.warnName(n, EndsItself, "name a different call after until, or omit until", "this rule blocks %s, so %[1]s can never end it", n)
			}
		}
	}
}
