package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/pin"
)

// defaultHolds contains the hold times (see [Approval.HoldFor]) of clients that are known to wait
// unusually long for the result of a call. It must not be modified. For all other clients, the
// default is 45 s, because most clients end a call after 60 s.
var defaultHolds = map[string]time.Duration{
	"claude-code":            100 * time.Second, // the client waits almost indefinitely, but moves a call to the background after 2 min
	"gemini-cli-mcp-client*": 100 * time.Second, // the client ends a call after 10 min, and cannot ask its user for approval
}

// HoldFor returns the hold time: how long a call from the named client waits for approval before
// its caller is told to retry later. An entry for the client in Holds takes precedence. Next comes
// the built-in default for the client, unless HoldSet is true. In all other cases, the hold time is
// Hold.
func (a Approval) HoldFor(client string) time.Duration {
	if hold, ok := holdOf(a.Holds, client); ok {
		return hold
	}
	if hold, ok := holdOf(defaultHolds, client); ok && !a.HoldSet {
		return hold
	}
	return a.Hold
}

// holdOf returns the hold time for a client. An entry with the client's exact name takes precedence
// over patterns, and a longer pattern over a shorter one.
func holdOf(holds map[string]time.Duration, client string) (hold time.Duration, ok bool) {
	if hold, ok = holds[client]; ok && !strings.HasSuffix(client, "*") {
		return hold, true
	}
	longest := -1
	for _, name := range slices.Sorted(maps.Keys(holds)) {
		prefix, pattern := strings.CutSuffix(name, "*")
		if pattern && strings.HasPrefix(client, prefix) && len(prefix) > longest {
			hold, longest = holds[name], len(prefix)
		}
	}
	return hold, longest >= 0
}

// readHolds reads a map from client names to hold times.
func readHolds(v Value) (map[string]time.Duration, bool) {
	holds := map[string]time.Duration{}
	v.Each(func(client string, value Value) {
		if star := strings.IndexByte(client, '*'); client == "" || star >= 0 && star < len(client)-1 {
			v.faultAt(value.key, fmt.Sprintf("%s: invalid client name %q", v.what, client), `for example claude-code, or "gemini-cli-*": use "*" only at the end`)
			return
		}
		if hold, ok := durationFrom(0)(value); ok {
			holds[client] = hold
		}
	})
	return holds, v.kind == mapKind
}

// checkIgnore accepts an argument of a tool in the form TOOL.FIELD.
var checkIgnore = accept(func(text string) bool {
	dot := strings.LastIndexByte(text, '.')
	return dot > 0 && dot < len(text)-1 && !strings.ContainsAny(text, "*$[]\"' \t")
}, "%[1]s: %[2]s is not TOOL.FIELD", `for example "shell.run.description": one argument of one tool`)

// checkPIN accepts the hash of a PIN. Its message does not quote the value, which could be the PIN
// itself.
var checkPIN = accept(func(text string) bool {
	_, err := pin.Parse(text, time.Now)
	return err == nil
}, "%[1]s is not a hash of a PIN", "run petrigate approvals pin, and copy the line that it prints")

// Approval configures approval by people.
type Approval struct {
	Channels []string      // names of channels, in file order; all of them are used at the same time
	Hold     time.Duration // hold time: how long a call waits for approval; see [Approval.HoldFor]
	Expire   time.Duration // how long a pending request can be answered, and how long a granted approval can be used
	Cooldown time.Duration // how long the same call is refused after a denial
	Mask     []string      // fields to hide from approvers: names, or paths that begin with "$."

	Ignore []string `json:",omitempty"` // arguments, in the form TOOL.FIELD, that are ignored when calls are compared

	Holds   map[string]time.Duration // hold times by client name; a "*" at the end of a name matches any suffix
	HoldSet bool                     // whether the configuration sets Hold, which then overrides the built-in defaults
	Webhook *Webhook                 `json:",omitempty"` // settings of the "webhook" channel; nil if the channel is not used
	PIN     string                   `json:"-"`          // hash of the PIN that approvers must type; empty if no PIN is required
	Desktop bool                     `json:",omitempty"` // whether to show a desktop notification when a call is waiting
	Self    bool                     `json:",omitempty"` // whether callers may approve their own calls
	People  map[string]string        `json:",omitempty"` // maps the name of an approver to the principal of that person's own calls
	Grants  time.Duration            `json:",omitempty"` // maximum lifetime of a grant; 0 means one hour; negative values disable grants
}

// channelSections contains an example of each section of "approval" that configures a channel. The
// section has the name of the channel. The list is read-only.
var channelSections = []struct{ name, example string }{{channel.Webhook, exampleOfWebhook}}

func readApproval(a *Approval, l *layers) func(Value) {
	return func(v Value) {
		l.section(v, Keys{
			"channels": l.fileOnly("approval.channels", into(&a.Channels, readChannels)),
			"mask":     into(&a.Mask, nonEmpty(listOf(checked(checkNotEmpty, checkMask)))),
			"ignore":   into(&a.Ignore, nonEmpty(listOf(checked(checkNotEmpty, checkIgnore)))),
			"holds":    l.fileOnly("approval.holds", into(&a.Holds, readHolds)),
			"grants":   into(&a.Grants, readGrants),
			"self":     into(&a.Self, Value.Flag),
			"people":   into(&a.People, mapOf("", checked(checkNotEmpty))),
			"desktop":  into(&a.Desktop, Value.Flag),
			"pin":      l.fileOnly("approval.pin", into(&a.PIN, checked(checkNotEmpty, checkPIN))),
			"webhook":  l.fileOnly("approval.webhook", into(&a.Webhook, readWebhook)),
		})
	}
}

// maxGrant is the upper limit for the configured lifetime of a grant.
const maxGrant = time.Hour

// readGrants reads the maximum lifetime of a grant; false disables grants.
func readGrants(v Value) (time.Duration, bool) {
	if v.kind == boolKind {
		return map[bool]time.Duration{true: maxGrant, false: -1}[v.text == "true"], true
	}
	most, ok := duration(v.text)
	if !ok || v.kind != textKind || most < time.Second || most > maxGrant {
		v.Fault(v.label()+" must be true, false, or a duration of at most 1h", "for example 30m, or false")
		return 0, false
	}
	return most, true
}

func readChannels(v Value) ([]string, bool) {
	channels, ok := listOf(oneOf(channel.Names(nil)))(v)
	for i, item := range v.list() {
		if slices.ContainsFunc(v.items[:i], func(n *node) bool { return n.text == item.text }) {
			v.faultAt(item, fmt.Sprintf("%q is listed twice", item.text), "")
		}
	}
	return channels, ok
}

// grantLimit returns the maximum lifetime of a grant, given the value of [Approval.Grants]. If the
// value is 0, which means unset, grantLimit returns maxGrant. If it is negative, which disables
// grants, grantLimit returns 0.
func grantLimit(grants time.Duration) time.Duration {
	if grants == 0 {
		return maxGrant
	}
	return max(grants, 0)
}
