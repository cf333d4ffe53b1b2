package mining

// maxInvalidators is the maximum number of invalidators to test.
const maxInvalidators = 5000

// An invalidator is a rule that a call C invalidates a success of A, so A must be called again
// between C and B.
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
