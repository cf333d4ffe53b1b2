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

// usualHolds say how long calls wait, where no configuration does, of clients that are known to
// wait longer than most. Most end a call after 60 s, and some count that from their side of a
// slow start; 45 s is for them. Read-only.
var usualHolds = map[string]time.Duration{
	"claude-code":            100 * time.Second, // has no limit in practice, and puts a call into the background after 2 min
	"gemini-cli-mcp-client*": 100 * time.Second, // ends a call after 10 min, and cannot show a question
}

// HoldFor returns how long a call of a client waits before it is parked, by the name that the
// client gives: what Holds says, else Hold where that was set, else what is usual.
func (a Approval) HoldFor(client string) time.Duration {
	if hold, ok := holdOf(a.Holds, client); ok {
		return hold
	}
	if hold, ok := holdOf(usualHolds, client); ok && !a.HoldSet {
		return hold
	}
	return a.Hold
}

// holdOf finds a client by its name, or else by the longest pattern.
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

// readHolds reads durations by the names of clients.
func readHolds(v Value) (map[string]time.Duration, bool) {
	holds := map[string]time.Duration{}
	v.Each(func(client string, value Value) {
		if star := strings.IndexByte(client, '*'); client == "" || star >= 0 && star < len(client)-1 {
			v.at(value.key, fmt.Sprintf("%s: %q is no name of a client", v.what, client), `for example claude-code, or "gemini-cli-*": a "*" stands at the end only`)
			return
		}
		if text, ok := (scalar{check: checkDuration(0), timed: true}).read(value); ok {
			holds[client], _ = duration(text)
		}
	})
	return holds, v.kind == mapKind
}

// readPeople reads principals by the names of the persons who they are.
func readPeople(v Value) (map[string]string, bool) {
	people := map[string]string{}
	v.Each(func(name string, value Value) {
		if principal, ok := checked(checkFilled)(value); ok {
			people[name] = principal
		}
	})
	return people, v.kind == mapKind
}

// checkIgnore accepts an argument of a tool.
func checkIgnore(what, shown, text string) (msg, hint string) {
	dot := strings.LastIndexByte(text, '.')
	if dot < 1 || dot == len(text)-1 || strings.ContainsAny(text, "*$[]\"' \t") {
		return what + ": " + shown + " is not TOOL.FIELD", `for example "shell.run.description": one argument of one tool`
	}
	return "", ""
}

// checkPIN accepts the hash of a PIN. It shows nothing of it: it may be the PIN.
func checkPIN(what, _, text string) (msg, hint string) {
	if _, err := pin.Parse(text, time.Now); err != nil {
		return what + " is no hash of a PIN", "petrigate approvals pin asks for a PIN, and prints the line that belongs here"
	}
	return "", ""
}

// settleChannels says which channels are open where nothing else does, and finds those that
// cannot be or that a PIN does not cover.
func (c *Config) settleChannels(d *decoder, l *layers) {
	a, at := &c.Approval, l.set["approval.channels"]
	if a.Channels == nil {
		a.Channels = slices.Clone(usualChannels)
		if c.Console.HTTP == "off" {
			a.Channels = slices.DeleteFunc(a.Channels, func(channel string) bool { return channel == "web" })
		}
	}
	for _, channel := range a.Channels {
		switch channel {
		case "web", "url":
			if c.Console.HTTP == "off" {
				d.at(at, fmt.Sprintf("the channel %q is a page of the console, and there is none: console.http is off", channel), "take it out, or leave out console.http")
			}
		case "elicit", "webhook":
			if a.PIN != "" {
				d.warn(l.set["approval.pin"], fmt.Sprintf("the channel %q asks for no PIN: whoever answers there approves without it", channel), "channels: [web, cli]")
			}
		}
	}
	c.checkHookChannels(d, l)
}

// checkHookChannels warns where nobody can be asked about calls that come by hooks: those of
// an agent that can show neither a form nor a page.
func (c *Config) checkHookChannels(d *decoder, l *layers) {
	beside := func(channel string) bool { return channel != "elicit" && channel != "url" }
	if c.Listen.Hooks && !slices.ContainsFunc(c.Approval.Channels, beside) {
		d.warn(l.set["approval.channels"], "nobody can approve a call that comes by listen.hooks: a hook shows no question, and no channel beside the client is open", "channels: [elicit, web, cli]")
	}
}

// settleApproval checks the durations together.
func (c *Config) settleApproval(d *decoder, l *layers) {
	a := &c.Approval
	a.HoldSet = l.given["approval.hold"]
	if a.Expire < a.Hold {
		d.at(cmp.Or(l.set["approval.expire"], l.set["approval.hold"]), `"expire" is shorter than "hold"`, "")
	}
	for _, client := range slices.Sorted(maps.Keys(a.Holds)) {
		if a.Expire < a.Holds[client] {
			d.at(l.set["approval.holds"], fmt.Sprintf(`"expire" is shorter than the hold of %s`, client), "")
		}
	}
}
