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

// defaultHolds gives the hold time of clients that are known to wait longer than most, used unless
// the configuration sets a hold. Most clients end a call after 60 s, and some of them count from
// before a slow start; the general default of 45 s is chosen for those. Read-only.
var defaultHolds = map[string]time.Duration{
	"claude-code":            100 * time.Second, // no limit in practice; moves a call to the background after 2 min
	"gemini-cli-mcp-client*": 100 * time.Second, // ends a call after 10 min; cannot show a question
}

// HoldFor returns how long a call waits for an approval before it is parked, given the name that
// the client reports. Holds takes precedence over Hold, and Hold, if it was set, over the built-in
// default for that client.
func (a Approval) HoldFor(client string) time.Duration {
	if hold, ok := holdOf(a.Holds, client); ok {
		return hold
	}
	if hold, ok := holdOf(defaultHolds, client); ok && !a.HoldSet {
		return hold
	}
	return a.Hold
}

// holdOf looks up a client by its exact name, then by the longest matching pattern.
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

// readHolds reads a mapping of client names to durations.
func readHolds(v Value) (map[string]time.Duration, bool) {
	holds := map[string]time.Duration{}
	v.Each(func(client string, value Value) {
		if star := strings.IndexByte(client, '*'); client == "" || star >= 0 && star < len(client)-1 {
			v.faultAt(value.key, fmt.Sprintf("%s: invalid client name %q", v.what, client), `for example claude-code, or "gemini-cli-*": use "*" only at the end`)
			return
		}
		if text, ok := (scalar{check: checkDuration(0), timed: true}).read(value); ok {
			holds[client], _ = duration(text)
		}
	})
	return holds, v.kind == mapKind
}

// readPeople reads a mapping of people's names to their principals.
func readPeople(v Value) (map[string]string, bool) {
	people := map[string]string{}
	v.Each(func(name string, value Value) {
		if principal, ok := checked(checkNotEmpty)(value); ok {
			people[name] = principal
		}
	})
	return people, v.kind == mapKind
}

// checkIgnore accepts TOOL.FIELD, an argument of a tool.
func checkIgnore(what, shown, text string) (msg, hint string) {
	dot := strings.LastIndexByte(text, '.')
	if dot < 1 || dot == len(text)-1 || strings.ContainsAny(text, "*$[]\"' \t") {
		return what + ": " + shown + " is not TOOL.FIELD", `for example "shell.run.description": one argument of one tool`
	}
	return "", ""
}

// checkPIN accepts the hash of a PIN. Its message does not quote the text, which could be the PIN
// itself.
func checkPIN(what, _, text string) (msg, hint string) {
	if _, err := pin.Parse(text, time.Now); err != nil {
		return what + " is not a hash of a PIN", "run petrigate approvals pin, and copy the line that it prints"
	}
	return "", ""
}

// Approval configures human approval.
type Approval struct {
	Channels []string      // any of "elicit", "url", "web", "cli", "webhook", in order; all are used at once
	Hold     time.Duration // how long a call waits before it is parked; see [Approval.HoldFor]
	Expire   time.Duration // how long an approval can be answered and used
	Cooldown time.Duration // how long a denial refuses the same call
	Mask     []string      // field names, and paths that begin with "$.", whose values approvers do not see

	Ignore []string `json:",omitempty"` // arguments, as TOOL.FIELD, left out of the identity of a call

	Holds   map[string]time.Duration // hold time by client name; a trailing "*" matches any suffix
	HoldSet bool                     // Hold was set explicitly and overrides the built-in defaults
	Webhook *Webhook                 `json:",omitempty"` // settings of the channel "webhook"; otherwise nil
	PIN     string                   `json:"-"`          // hash of the PIN that approvers type; empty: no PIN
	Desktop bool                     `json:",omitempty"` // show a desktop notification when a call waits
	Self    bool                     `json:",omitempty"` // callers may approve their own calls
	People  map[string]string        `json:",omitempty"` // client principals by person
	Grants  time.Duration            `json:",omitempty"` // maximum lifetime of a grant; 0: one hour; negative: grants are disabled
}

// maxGrant is the maximum lifetime of a grant.
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
	channels, ok := each(oneOf(channel.Names(nil)))(v)
	for i, item := range v.list() {
		if slices.ContainsFunc(v.items[:i], func(n *node) bool { return n.text == item.text }) {
			v.faultAt(item, fmt.Sprintf("%q is listed twice", item.text), "")
		}
	}
	return channels, ok
}

// grantLimit returns the maximum lifetime of a grant under the setting.
func grantLimit(grants time.Duration) time.Duration {
	if grants == 0 {
		return maxGrant
	}
	return max(grants, 0)
}
