package rules

// checkParts warns if a part of a statement repeats a part of an earlier statement in the same
// file. For example, "block a, c" repeats a part of "block a, b".
func (c *compiler) checkParts() {
	first := make(map[string]Statement)
	for _, s := range c.statements {
		for _, p := range partsOf(s) {
			text := p.statement.String()
			if earlier := first[text]; earlier != nil && earlier != s {
				if inSameFile(s, earlier) {
					c.warnName(p.name, Repeated, "remove it from one of the two rules", "the rule at %[2]s already says %[1]q", text, earlier.Position())
				}
				continue
			}
			first[text] = s
		}
	}
}

// A part is one of the shorter statements that together are equivalent to a statement with lists.
// For example, "block a, b" has the parts "block a" and "block b". A warning about a part points at
// the part's name.
type part struct {
	statement Statement
	name      Name
}

// partsOf splits a statement with lists into its parts. It leaves out the author's reason. A limit
// has no parts, because it counts all its calls together.
func partsOf(s Statement) (parts []part) {
	switch s := s.(type) {
	case *Require:
		for _, before := range s.Before {
			parts = append(parts, s.parts(before)...)
		}
	case *Approve:
		for _, n := range s.Before {
			one := *s
			one.Before, one.Because = []Name{n}, ""
			parts = append(parts, part{&one, n})
		}
	case *Block:
		for _, n := range s.Tools {
			one := *s
			one.Tools, one.Because = []Name{n}, ""
			parts = append(parts, part{&one, n})
		}
	case *Allow:
		for _, n := range s.Tools {
			parts = append(parts, part{&Allow{Tools: []Name{n}}, n})
		}
	}
	return parts
}

// parts returns the parts of s that restrict the given call. There is one part for each required
// call. If any one of the required calls is enough, there is only one part.
func (s *Require) parts(before Name) (parts []part) {
	one := *s
	one.Before, one.Because = []Name{before}, ""
	if s.Or {
		return []part{{&one, before}}
	}
	for _, n := range s.First {
		pair := one
		pair.First = []Name{n}
		parts = append(parts, part{&pair, before})
	}
	return parts
}
