// Package channel contains the table of channels, that is, the ways for a person to answer requests
// for approval.
//
// To add a channel, add a row to the table and make the changes listed in the comment on the
// variable all.
package channel

import "slices"

// Names of the channels, as used in the configuration and in rules.
const (
	Elicit  = "elicit"
	URL     = "url"
	Web     = "web"
	CLI     = "cli"
	Webhook = "webhook"
)

// A Channel is a row of the table: one way for a person to answer requests for approval.
type Channel struct {
	Name string

	Usual   bool // whether people can use the channel if the configuration does not list channels
	Client  bool // whether the MCP client that makes the call displays the requests; calls from hooks cannot use such a channel
	Console bool // whether requests are displayed on a page of the console
	Lists   bool // whether the channel shows a list of all requests that it can answer, so that it need not be notified of each request
	AsksPIN bool // whether the channel can ask for the approval PIN
	Vouches bool // whether another system identifies the people and signs their answers; no PIN is then needed

	// Command is the command that answers requests on this machine. Place is text that follows the
	// command in messages, for example ", in a browser".
	Command, Place string

	// Elsewhere describes how to answer a request that is displayed only by this channel and cannot
	// be answered with a command on this machine.
	Elsewhere string
}

// all is the table of channels, in the order used in messages. To add a channel, make these changes
// as well:
//
//   - Add its name to the grammar in rules/doc.go, and to the editors' grammars in the folder editors.
//   - In package config, add a file for its section. Pass its URL to addTarget and its secrets to
//     addSecret. The key of a secret must be "secret".
//   - In config/approval.go, add the section to Approval, channelSections and readApproval.
//   - Add its name and section to petrigate.schema.json.
//   - If it runs next to the proxy, add a file in internal/serve/daemon with a type that implements
//     the interface channel, and a function in openers that returns it, or nil if it is not configured.
//     Also add its state to operator.Status, and a line to statusprint.go.
//   - Unless Lists is set, call the method PutApproval of proxy.Proxy when the channel shows a request.
//   - Call the method Answer of proxy.Proxy for each answer. Pass the person if the channel has
//     authenticated them.
//   - If the client shows the requests, ask it in proxy/internal/pipeline/approval.go.
var all = [...]Channel{
	{Name: Elicit, Usual: true, Client: true},
	{Name: URL, Client: true, Console: true, AsksPIN: true},
	{Name: Web, Usual: true, Console: true, Lists: true, AsksPIN: true, Command: "petrigate open", Place: ", in a browser"},
	{Name: CLI, Usual: true, Lists: true, AsksPIN: true, Command: "petrigate approvals watch", Place: ", in another terminal"},
	{Name: Webhook, Vouches: true, Elsewhere: "via the webhook"},
}

// All returns the channels.
func All() []Channel { return slices.Clone(all[:]) }

// Find returns the channel with the given name. It reports whether the channel exists.
func Find(name string) (Channel, bool) {
	i := slices.IndexFunc(all[:], func(c Channel) bool { return c.Name == name })
	if i < 0 {
		return Channel{}, false
	}
	return all[i], true
}

// Names returns the names of the channels that satisfy keep or, if keep is nil, of all channels.
func Names(keep func(Channel) bool) (names []string) {
	for _, c := range all {
		if keep == nil || keep(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Usual returns the names of the channels that people can use if the configuration does not list
// any.
func Usual() []string { return Names(func(c Channel) bool { return c.Usual }) }

// IsClient reports whether the channel with the given name displays requests in the client that
// makes the call.
func IsClient(name string) bool {
	c, _ := Find(name)
	return c.Client
}

// OfClient returns the names of the channels that display requests in the client that makes the
// call.
func OfClient() []string { return Names(func(c Channel) bool { return c.Client }) }
