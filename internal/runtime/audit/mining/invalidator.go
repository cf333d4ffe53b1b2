package mining

const maxInvalidators = 5000

// An invalidator is a rule "A before B" with a call C that invalidates a success of A. After C, A
// must succeed again before B is called.
type invalidator struct {
	pair
	c        int
	out      bool // whether B was called after C without a new success of A between the two, which refutes the rule
	sessions int  // number of sessions where C was called between A and B
	calls    int  // number of calls to B where C was called between A and B
	chance   chance
}

// An invalidatorState counts events in a session since the last call to B.
type invalidatorState struct {
	ok, between int // number of successes of A, and number of calls to C after the first success of A
	counted     bool
}
