package toolnet

// A Condition decides from the result whether a call of Tool succeeded: if the condition does not
// hold, the call has failed even though its result reports no error. If several conditions apply to
// a call, all of them must hold.
type Condition struct {
	Tool   string // physical name of the call
	Glob   bool   // Tool is a pattern over physical names, like a tool of kind [Glob]
	Source string // the condition as written; part of the fingerprint
	Rule   Position

	Judge  Judge
	Number int // number of the condition in Judge
}

// A Judge evaluates conditions on the results of calls. It must be safe for concurrent use.
type Judge interface {
	// Holds reports whether the condition with this number certainly holds for a result, given as a
	// value, which may be nil, and a text.
	Holds(c *Call, value []byte, text string, number int) bool
}

// about reports whether the condition applies to calls with this physical name.
func (s *Condition) about(name string) bool {
	if s.Glob {
		return MatchGlob(s.Tool, name)
	}
	return s.Tool == name
}

// AboutCall reports whether the condition applies to the call.
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
