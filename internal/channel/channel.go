// Package channel has the table of channels for answers to requests for approval.
//
// A new channel is a row here and, if it runs beside the proxy, a file in internal/serve/daemon.
package channel

import "slices"

// The names of the channels, as the configuration and rules write them.
const (
	Elicit  = "elicit"
	URL     = "url"
	Web     = "web"
	CLI     = "cli"
	Webhook = "webhook"
)

// A Channel is a row of the table.
type Channel struct {
	Name string

	Usual   bool // open if the configuration names no channels
	Client  bool // the client of the call shows the request, so that a call by a hook cannot use it
	Console bool // a page of the console
	Lists   bool // shows every request that it can answer, so that it needs no notice of one
	AsksPIN bool // can ask for the PIN of approvals
	Vouches bool // a signed answer of another system, which counts without the PIN

	// How to answer at this machine: a command, and the place as the end of a sentence.
	Command, Place string
}

// all is the table, in the order of messages.
var all = [...]Channel{
	{Name: Elicit, Usual: true, Client: true},
	{Name: URL, Client: true, Console: true, AsksPIN: true},
	{Name: Web, Usual: true, Console: true, Lists: true, AsksPIN: true, Command: "petrigate open", Place: ", in a browser"},
	{Name: CLI, Usual: true, Lists: true, AsksPIN: true, Command: "petrigate approvals watch", Place: ", in another terminal"},
	{Name: Webhook, Vouches: true},
}

// All returns the channels.
func All() []Channel { return slices.Clone(all[:]) }

// Find returns the channel with this name, and false if none has it.
func Find(name string) (Channel, bool) {
	i := slices.IndexFunc(all[:], func(c Channel) bool { return c.Name == name })
	if i < 0 {
		return Channel{}, false
	}
	return all[i], true
}

// Names returns the names of the channels that keep selects; a nil keep selects all.
func Names(keep func(Channel) bool) (names []string) {
	for _, c := range all {
		if keep == nil || keep(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Usual returns the channels that are open if the configuration names none.
func Usual() []string { return Names(func(c Channel) bool { return c.Usual }) }

// IsClient reports whether the client of the call shows requests of this channel.
func IsClient(name string) bool {
	c, _ := Find(name)
	return c.Client
}

// OfClient returns the channels whose requests the client of the call shows.
func OfClient() []string { return Names(func(c Channel) bool { return c.Client }) }
