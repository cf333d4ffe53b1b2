package control

import "errors"

// A ConsoleOpener can open the web console. An [operator.Proxy] may implement it.
type ConsoleOpener interface {
	// OpenConsole returns the address of the console page at the given path. The address contains a
	// login code, which logs in one browser as the given person. The name identifies this person in
	// the audit log.
	OpenConsole(name, person, path string) (address string, err error)
}

// Open is the body of a request to open the console.
type Open struct {
	Actor string `json:"actor"`
	Path  string `json:"path,omitempty"` // path of the page; if empty, the start page
}

// Opened is the response to [Open].
type Opened struct {
	Address string `json:"address"` // address with the login code in its fragment
}

// open opens the console for the person and returns its address.
func open(o ConsoleOpener, person string, a Open) (Opened, error) {
	if person == "" {
		return Opened{}, errors.New("the console cannot identify users: this system does not report who connects")
	}
	address, err := o.OpenConsole(a.Actor, person, a.Path)
	return Opened{address}, err
}
