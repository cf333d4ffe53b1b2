package operator

// An Actor is a person who gives an order to a proxy.
type Actor struct {
	Name string // name for the record
	PIN  string // PIN that the person has typed; required if approvals require one
}
