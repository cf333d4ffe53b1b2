package operator

// An Actor identifies the person who issues a command to a proxy.
type Actor struct {
	Name string // name to record for the person
	PIN  string // PIN as the person has typed it; required if approvals require a PIN
}
