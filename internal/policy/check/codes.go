package check

// Codes of problems found by a verification.
const (
	codeRefuted   = "E301" // a claim is refuted
	codeNever     = "W301" // a tool can never be called
	codeFailing   = "W302" // a tool can be called only after a failure
	codeDeadlock  = "W303" // after some sequence of calls, a group of nets forbids every further call to the tools that it gates
	codeRedundant = "W304" // a net never changes a verdict
	codeUnproved  = "W305" // a claim could not be decided
	codeDead      = "W306" // a transition can never fire
	codeMilder    = "W307" // a name has no effect, because its calls have a second name with stricter rules
	codeLost      = "W308" // a failure makes tools permanently unavailable
)
