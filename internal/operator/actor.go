package operator

// An Actor identifies the person who issues a command to a proxy.
type Actor struct {
	Name string // person's name, as shown in records
	PIN  string // PIN that the person has typed; required if the proxy has an approval PIN
}
