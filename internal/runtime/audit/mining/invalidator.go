package mining

// maxInvalidators limits the calls considered for "since".
const maxInvalidators = 5000

// An invalidator is a call C that invalidates a success of A: A was repeated between C and B.
type invalidator struct {
	pair
	c        int
	out      bool // refuted: a B came after C without another A
	sessions int  // sessions with C after an A
	calls    int  // calls of B preceded by A and then C
	chance   chance
}

// An invalidatorState counts events of a session since the last B.
type invalidatorState struct {
	ok, between int // successes of A, and calls of C after the first of them
	counted     bool
}
