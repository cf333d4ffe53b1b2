// Package channel contains the table of channels through which requests for approval can be
// answered.
//
// To add a channel, add a row to the table; the table's comment lists what else the channel needs.
package channel

import "slices"

// Names of the channels in the configuration and in rules.
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

	Usual   bool // whether the channel is open by default, if the configuration names no channels
	Client  bool // whether the calling client shows the request, so that hooks cannot use this channel
	Console bool // whether the channel is a page in the console
	Lists   bool // whether the channel lists all requests that it can answer, so that it needs no notifications
	AsksPIN bool // whether the channel can ask for the approval PIN
	Vouches bool // whether another system signs the answer, so that no PIN is needed

	// How to answer on this machine: a command, and where to run it. The words can end a sentence.
	Command, Place string

	// Elsewhere tells an operator how to answer a request that is shown only by this channel, if no
	// command on this machine can answer it.
	Elsewhere string
}

// all is the table. Messages name the channels in this order. A new channel also needs:
//
//   - its name in internal/runtime/approval/state.go, in the grammar in rules/doc.go, and in the
//     editors' grammars (folder editors)
//   - in config: its section (channelSections), the section's secrets (Secrets and markSecrets in
//     secret.go), and its name and section in petrigate.schema.json
//   - if it runs next to the proxy, a file in internal/serve/daemon with an entry in openers, which
//     also adds the channel's state to operator.Status
//   - answers that reach Broker.AnswerAs, with the person whom the channel has authenticated
var all = [...]Channel{
	{Name: Elicit, Usual: true, Client: true},
	{Name: URL, Client: true, Console: true, AsksPIN: true},
	{Name: Web, Usual: true, Console: true, Lists: true, AsksPIN: true, Command: "petrigate open", Place: ", in a browser"},
	{Name: CLI, Usual: true, Lists: true, AsksPIN: true, Command: "petrigate approvals watch", Place: ", in another terminal"},
	{Name: Webhook, Vouches: true, Elsewhere: "via the webhook"},
}

// All returns the channels.
func All() []Channel { return slices.Clone(all[:]) }

// Find returns the channel with the given name. It returns false if the name is unknown.
func Find(name string) (Channel, bool) {
	i := slices.IndexFunc(all[:], func(c Channel) bool { return c.Name == name })
	if i < 0 {
		return Channel{}, false
	}
	return all[i], true
}

// Names returns the names of the channels that the function keep returns true for. If keep is nil,
// it returns all names.
func Names(keep func(Channel) bool) (names []string) {
	for _, c := range all {
		if keep == nil || keep(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Usual returns the names of the channels that are open by default.
func Usual() []string { return Names(func(c Channel) bool { return c.Usual }) }

// IsClient reports whether requests on the channel with the given name are shown by the calling
// client.
func IsClient(name string) bool {
	c, _ := Find(name)
	return c.Client
}

// OfClient returns the names of the channels whose requests are shown by the calling client.
func OfClient() []string { return Names(func(c Channel) bool { return c.Client }) }
