package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
			v.faultAt(value.key, fmt.Sprintf("%s: %q is no name of a client", v.what, client), `for example claude-code, or "gemini-cli-*": a "*" stands at the end only`)
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
		return what + " is no hash of a PIN", "petrigate approvals pin asks for a PIN, and prints the line that belongs here"
	}
	return "", ""
}

// settleChannels sets the default approval channels. It reports channels that need a console that
// is off, and warns about channels that do not ask for the PIN.
func (c *Config) settleChannels(d *decoder, l *layers) {
	a, at := &c.Approval, l.set["approval.channels"]
	if a.Channels == nil {
		a.Channels = slices.Clone(defaultChannels)
		if c.Console.HTTP == "off" {
			a.Channels = slices.DeleteFunc(a.Channels, func(channel string) bool { return channel == "web" })
		}
	}
	for _, channel := range a.Channels {
		switch channel {
		case "web", "url":
			if c.Console.HTTP == "off" {
				d.faultAt(at, fmt.Sprintf("the channel %q is a page of the console, and there is none: console.http is off", channel), "take it out, or leave out console.http")
			}
		case "elicit", "webhook":
			if a.PIN != "" {
				d.warn(l.set["approval.pin"], fmt.Sprintf("the channel %q asks for no PIN: whoever answers there approves without it", channel), "channels: [web, cli]")
			}
		}
	}
	c.checkHookChannels(d, l)
}

// checkHookChannels warns if calls that arrive over hooks can never be approved: a hook can show
// neither a form nor a page, so such calls need another channel.
func (c *Config) checkHookChannels(d *decoder, l *layers) {
	beside := func(channel string) bool { return channel != "elicit" && channel != "url" }
	if c.Listen.Hooks && !slices.ContainsFunc(c.Approval.Channels, beside) {
		d.warn(l.set["approval.channels"], "nobody can approve a call that comes by listen.hooks: a hook shows no question, and no channel beside the client is open", "channels: [elicit, web, cli]")
	}
}

// settleApproval checks the durations of the section against each other.
func (c *Config) settleApproval(d *decoder, l *layers) {
	a := &c.Approval
	a.HoldSet = l.given["approval.hold"]
	if a.Expire < a.Hold {
		d.faultAt(cmp.Or(l.set["approval.expire"], l.set["approval.hold"]), `"expire" is shorter than "hold"`, "")
	}
	for _, client := range slices.Sorted(maps.Keys(a.Holds)) {
		if a.Expire < a.Holds[client] {
			d.faultAt(l.set["approval.holds"], fmt.Sprintf(`"expire" is shorter than the hold of %s`, client), "")
		}
	}
}
