package rules

// checkParts warns about a name in a list if the statement, reduced to this name, repeats an
// earlier statement.
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

// A part is a statement with a single name in place of each list. All parts of a statement together
// are equivalent to the statement. name is the listed name that a warning about the part refers to.
type part struct {
	statement Statement
	name      Name
}

// partsOf splits a statement with lists into its parts, without the author's reason. A limit has no
// parts, because it counts all its calls together.
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

// parts returns the parts of s for one of the calls that must wait. There is one part for each
// required call or, with Or, a single part.
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
