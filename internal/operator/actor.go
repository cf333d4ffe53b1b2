package operator

// An Actor identifies the person who issues a command to a proxy.
type Actor struct {
	Name string // person's name, as shown in records
	PIN  string // PIN as typed by the person; required if approvals require a PIN
}
