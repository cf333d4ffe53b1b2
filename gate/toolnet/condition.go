package toolnet

import "slices"

// A Condition decides whether a call to Tool succeeded, based on the call's result. If the
// condition does not hold, the call has failed even if its result reports no error. If several
// conditions apply to a call, all of them must hold.
type Condition struct {
	Tool   string // physical name of the called tool
	Glob   bool   // whether Tool is a pattern that matches physical names, as with kind [Glob]
	Source string // the condition as written; part of the policy's fingerprint
	Rule   Position

	Judge  Judge
	Number int // number that identifies the condition to Judge
}

// A Judge evaluates conditions on call results. It must be safe for concurrent use.
type Judge interface {
	// Holds reports whether a condition is certain to hold for a result. number identifies the
	// condition; see [Condition]. The result is given both as a JSON value, which may be nil, and
	// as text.
	Holds(c *Call, value []byte, text string, number int) bool
}

// about reports whether the condition applies to calls with the given physical name.
func (s *Condition) about(name string) bool {
	if s.Glob {
		return MatchGlob(s.Tool, name)
	}
	return s.Tool == name
}

// AboutCall reports whether the condition applies to the call.
func (s *Condition) AboutCall(c *Call) bool {
	return s.about(c.Tool) || slices.ContainsFunc(c.Also, func(n Name) bool { return s.about(n.Text) })
}
