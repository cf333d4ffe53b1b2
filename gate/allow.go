package gate

// Allow permits a call.
type Allow struct {
	Ticket *Ticket // the caller must settle or close it
	Names  []Name
	Nets   []Verdict // without nets that abstain

	// Would is the refusal that the nets in shadow mode would have caused, with kind approval if
	// they would have asked a person; nil if they would have let the call pass.
	Would *Refusal
}

func (*Allow) decision() {}

// A Ticket represents the duty to settle an admitted call.
type Ticket struct {
	Number  uint64
	Awaited bool // some net waits for the outcome
	session *Session
}
