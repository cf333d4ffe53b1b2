package mining

// maxInvalidators limits the number of calls considered for "since".
const maxInvalidators = 5000

// An invalidator is a call C that invalidates a success of A, so that A was repeated between C and
// B.
type invalidator struct {
	pair
	c        int
	out      bool // refuted: some call of B came after C without another A in between
	sessions int  // number of sessions with C after an A
	calls    int  // number of calls of B that followed an A and then a C
	chance   chance
}

// An invalidatorState counts a session's events since the last call of B.
type invalidatorState struct {
	ok, between int // number of successes of A (ok), and number of calls of C after the first of these successes (between)
	counted     bool
}
