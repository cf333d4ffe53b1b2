package operator

// An Actor identifies the person who gives an order to a proxy.
type Actor struct {
	Name string // name to record for the person
	PIN  string // PIN as the person has typed it; required if approvals require a PIN
}
