package control

import "errors"

// A ConsoleOpener has a console. An [operator.Proxy] may be one.
type ConsoleOpener interface {
	// OpenConsole returns the address of a page of the console, with a code that lets one
	// browser in: for the person, who is called by the name.
	OpenConsole(name, person, path string) (address string, err error)
}

// Open asks for the console.
type Open struct {
	Actor string `json:"actor"`
	Path  string `json:"path,omitempty"` // of the page; empty: the first one
}

// Opened is where the console is.
type Opened struct {
	Address string `json:"address"` // with the code in its fragment
}

// Open returns the address of the console, which lets one browser in.
func (c *Client) Open(o Open) (done Opened, err error) { return done, c.do("/console", o, &done) }

// open answers a request for the console.
func open(o ConsoleOpener, person string, a Open) (Opened, error) {
	if person == "" {
		return Opened{}, errors.New("the console knows nobody here: this system does not say who connects")
	}
	address, err := o.OpenConsole(a.Actor, person, a.Path)
	return Opened{address}, err
}
