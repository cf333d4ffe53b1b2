package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/channel"
)

// settle sets defaults that depend on other settings, and reports settings that contradict each
// other.
func (c *Config) settle(d *decoder, l *layers) {
	c.Listen.Stdio = c.Listen.HTTP == ""
	if !l.broken["approval"] {
		c.settleChannels(d, l)
	}
	checkVia(d, c)
	for _, s := range []struct {
		section string
		settle  func(*decoder, *layers)
	}{{"listen", c.settleListen}, {"session", c.settleSession}, {"state", c.settleState}, {"audit", c.settleAudit}, {"approval", c.settleChannelSections}, {"approval durations", c.settleApproval}} {
		if l.broken[s.section] {
			continue
		}
		errs, warns := len(d.errs), len(d.warns)
		s.settle(d, l)
		if section, _, _ := strings.Cut(s.section, " "); l.hasUnresolved(section) {
			d.errs, d.warns = d.errs[:errs], d.warns[:warns]
		}
	}
}

// settleChannels sets the default approval channels. If the console is off, it reports channels
// that need the console. If a PIN is set, it warns about channels that do not ask for the PIN.
func (c *Config) settleChannels(d *decoder, l *layers) {
	a, at := &c.Approval, l.set["approval.channels"]
	if a.Channels == nil {
		a.Channels = channel.Names(func(of channel.Channel) bool { return of.Usual && !(of.Console && c.Console.HTTP == "off") })
	}
	for _, name := range a.Channels {
		of, _ := channel.Find(name)
		switch {
		case of.Console && c.Console.HTTP == "off":
			d.faultAt(at, fmt.Sprintf("the channel %q needs the console, but console.http is off", name), "remove the channel, or the key console.http")
		case !of.AsksPIN && a.PIN != "":
			d.warn(l.set["approval.pin"], fmt.Sprintf("the channel %q does not ask for the PIN: a person who answers there approves without it", name), "channels: [web, cli]")
		}
	}
	c.checkHookChannels(d, l)
}

// checkHookChannels warns if calls reported by hooks can never be approved. A hook can show neither
// a form nor a page, so such calls need another channel.
func (c *Config) checkHookChannels(d *decoder, l *layers) {
	beside := func(name string) bool { return !channel.IsClient(name) }
	if c.Listen.Hooks && !slices.ContainsFunc(c.Approval.Channels, beside) {
		d.warn(l.set["approval.channels"], "no person can approve a call that comes through listen.hooks: a hook cannot show a question, and only the client's channels are enabled", "channels: [elicit, web, cli]")
	}
}

// settleApproval checks that the setting "expire" in the section "approval" is at least as long as
// "hold" and each duration in "holds". It also sets HoldSet.
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

// settleChannelSections checks that every enabled channel that requires a section has one, and that
// every channel with a section is enabled. It also sets the default of the webhook's Mask.
func (c *Config) settleChannelSections(d *decoder, l *layers) {
	for _, of := range channelSections {
		at, listed := l.set["approval."+of.name], slices.Contains(c.Approval.Channels, of.name)
		switch {
		case listed && at == nil:
			d.faultAt(l.set["approval.channels"], fmt.Sprintf(`the channel %q requires the section %q of "approval"`, of.name, of.name), of.example)
		case !listed && at != nil:
			d.faultAt(at, fmt.Sprintf(`%q has no effect because the channels do not include %q`, of.name, of.name), fmt.Sprintf("channels: [elicit, web, cli, %s]", of.name))
		}
	}
	if w := c.Approval.Webhook; w != nil && w.Mask == nil {
		w.Mask = slices.Clone(c.Audit.Mask)
	}
}

// settleListen reports settings in the section "listen" that are missing or have no effect. It
// rejects an address that other machines can reach without authentication.
func (c *Config) settleListen(d *decoder, l *layers) {
	if c.Listen.Stdio {
		for _, key := range l.httpOnly {
			d.warn(key, fmt.Sprintf("%q has no effect without \"http\"", key.text), "")
		}
		return
	}
	switch {
	case c.Listen.Auth == "none" && !loopback(c.Listen.HTTP):
		d.faultAt(cmp.Or(l.set["listen.auth"], l.set["listen.http"]), `"listen.http" requires authentication because other machines can reach it`,
			"write auth: token, or an address such as 127.0.0.1:7777")
	case c.Listen.Auth == "jwt" && c.Listen.JWT == nil:
		d.faultAt(l.set["listen.auth"], `"auth": "jwt" requires the section "jwt" of "listen"`, exampleOfJWT)
	case c.Listen.Auth != "jwt" && c.Listen.JWT != nil:
		d.warn(l.set["listen.jwt"], `"jwt" has no effect without "auth": "jwt"`, "auth: jwt")
	}
	if at := l.set["listen.tokenFile"]; at != nil && c.Listen.Auth != "token" {
		d.warn(at, fmt.Sprintf(`"tokenFile" has no effect with "auth": %q`, c.Listen.Auth), "")
	}
	if allNetworks(c.Listen.HTTP) && len(c.Listen.AllowedHosts) == 0 {
		d.warn(l.set["listen.http"], "clients on other machines are refused until allowedHosts lists the names of this machine",
			`listen: { allowedHosts: ["gate.example.com"] }`)
	}
}

// settleSession reports settings in the section "session" that are missing or have no effect. If a
// name is set, "by" defaults to "name".
func (c *Config) settleSession(d *decoder, l *layers) {
	s := &c.Session
	if s.By == "" {
		s.By = "connection"
		if s.Name != "" {
			s.By = "name"
		}
	}
	for _, x := range []struct{ key, value, example string }{
		{"name", s.Name, `name: "nightly"`}, {"header", s.Header, `header: "X-Agent-Session"`}, {"meta", s.Meta, `meta: "example.com/session"`},
	} {
		at := l.set["session."+x.key]
		switch {
		case x.value != "" && s.By != x.key:
			d.faultAt(at, fmt.Sprintf("%q has no effect with \"by\": %q", x.key, s.By), "by: "+x.key)
		case x.value == "" && s.By == x.key:
			d.faultAt(l.set["session.by"], fmt.Sprintf("\"by\": %q requires %q", s.By, x.key), x.example)
		}
	}
	if s.By == "header" && c.Listen.Stdio {
		d.faultAt(l.set["session.by"], `"by": "header" has no effect over stdio`, `listen: { http: "127.0.0.1:7777" }`)
	}
}

// settleState reports settings in the section "state" that are missing or have no effect, and sets
// the default of pinning.mode.
func (c *Config) settleState(d *decoder, l *layers) {
	s := &c.State
	if c.Pinning.Mode == "" {
		c.Pinning.Mode = "warn"
		if s.Driver == "memory" {
			c.Pinning.Mode = "off"
		}
	}
	for _, only := range []struct{ key, driver string }{{"path", "sqlite"}, {"dsn", "postgres"}} {
		if at := l.set["state."+only.key]; at != nil && s.Driver != only.driver {
			d.faultAt(at, fmt.Sprintf("%q has no effect with the driver %s", only.key, s.Driver), "driver: "+only.driver)
		}
	}
	if at := l.set["state.sync"]; at != nil && s.Driver == "memory" {
		d.faultAt(at, `"sync" has no effect with the driver memory`, "driver: sqlite")
	}
	if at := l.set["pinning.file"]; at != nil && s.Driver == "postgres" && c.Pinning.Mode == "enforce" {
		d.warn(at, "each machine keeps accepted tool definitions in a file of its own: another replica accepts the first definitions that it sees", `omit "file" to keep them in the database for all replicas`)
	}
	if s.Driver == "postgres" && l.set["state.dsn"] == nil {
		d.faultAt(l.set["state.driver"], `the driver postgres requires "dsn"`, `dsn: "postgres://gate:${env:PGPASSWORD}@db.example/petrigate"`)
	}
}

// settleAudit reports settings in the section "audit" that are missing or have no effect.
func (c *Config) settleAudit(d *decoder, l *layers) {
	a := &c.Audit
	recorded := a.File != "" || c.State.Driver != "memory"
	arguments, mask, rotate := l.set["audit.arguments"], l.set["audit.mask"], l.set["audit.rotate"]
	switch {
	case mask != nil && !recorded:
		d.faultAt(mask, `"mask" has no effect without a record`, "file: audit.jsonl")
	case mask != nil && a.Arguments != "masked":
		d.faultAt(mask, `"mask" has no effect with "arguments": "`+a.Arguments+`"`, "arguments: masked")
	case arguments != nil && !recorded:
		d.faultAt(arguments, `"arguments" has no effect without a record`, "file: audit.jsonl")
	case a.Arguments == "masked" && mask == nil:
		d.faultAt(arguments, `"arguments": "masked" requires "mask"`, `mask: [password, "$.user.token"]`)
	}
	if keep := l.set["audit.keep"]; keep != nil && c.State.Driver == "memory" {
		d.faultAt(keep, `"keep" has no effect with the driver memory: it applies to records in the database`, keepHint(a))
	}
	if rotate != nil && a.File == "" {
		d.faultAt(rotate, `"rotate" has no effect without "file"`, "file: audit.jsonl")
	}
}

// keepHint returns a hint for a configuration that limits the age of records but has no database.
// It suggests rotation if the log is a file, and a database otherwise.
func keepHint(a *Audit) string {
	if a.File != "" {
		return "write rotate: { size: 100MB, keep: 10 } for the file"
	}
	return "state: { driver: sqlite }"
}

// checkVia reports transitions that request approval through a channel that is not enabled, because
// such a request could never be answered.
func checkVia(d *decoder, c *Config) {
	for _, net := range c.Nets {
		for _, t := range net.Transitions {
			if t.Via != "" && t.Type == "manual" && !slices.Contains(c.Approval.Channels, t.Via) {
				d.faultAtPosition(t.Position, fmt.Sprintf("the transition %q asks for approval via %q, but that channel is not enabled", t.Name, t.Via), "add it to approval.channels")
			}
		}
	}
}
