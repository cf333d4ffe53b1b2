package operator

// An Actor is a person who gives an order to a proxy.
type Actor struct {
	Name string // name to record
	PIN  string // PIN as typed; required if approvals require one
}
