package toolnet

// A Condition decides by the result whether a call of Tool has succeeded: if it does not hold,
// the call has failed, though its result says nothing of an error. Several conditions on one
// call must all hold.
type Condition struct {
	Tool   string // a physical name of the call
	Glob   bool   // Tool is a pattern over the physical names; as a tool of a [Glob]
	Source string // the condition as it was written; it is part of the fingerprint
	Rule   Position

	Judge  Judge
	Number int // of the condition, for the judge
}

// A Judge knows conditions on what calls return. It is safe for concurrent use.
type Judge interface {
	// Holds reports whether the condition of that number certainly holds of a result:
	// its value, which is nil where there is none, and its text.
	Holds(c *Call, value []byte, text string, number int) bool
}

// about reports whether the condition is about calls with this physical name.
func (s *Condition) about(name string) bool {
	if s.Glob {
		return MatchGlob(s.Tool, name)
	}
	return s.Tool == name
}

// AboutCall reports whether the condition is about the call.
func (s *Condition) AboutCall(c *Call) bool {
	if s.about(c.Tool) {
		return true
	}
	for i := range c.Also {
		if s.about(c.Also[i].Text) {
			return true
		}
	}
	return false
}
