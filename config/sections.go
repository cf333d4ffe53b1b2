package config

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// readRoot decodes the whole file into c; the scalars that other layers can override go to l.
func readRoot(v Value, c *Config, l *layers) {
	v.Fields(withClientKeys(v, sectionKeys(c, l)))
	if active := v.get("active"); active != nil && c.Active != nil && v.get("nets") == nil {
		v.faultAt(active, `"active" has no meaning without "nets"`, "")
	}
}

// readServersAlone decodes the servers and ignores the other sections.
func readServersAlone(v Value) (servers []Server) {
	known := sectionKeys(&Config{}, newLayers())
	for name := range known {
		known[name] = func(Value) {}
	}
	known["mcpServers"] = func(v Value) {
		v.Each(func(_ string, entry Value) {
			before := len(v.errs)
			s := readServer(entry)
			s.Problems, v.errs = slices.Clone(v.errs[before:]), v.errs[:before]
			s.Problems.Sort()
			servers = append(servers, s)
		})
	}
	v.Fields(withClientKeys(v, known))
	return servers
}

// withClientKeys ignores unknown keys in a JSON file with servers, since such a file may belong to
// a client. A key that resembles a known key is still reported as a misspelling.
func withClientKeys(v Value, known Keys) Keys {
	if !v.json || v.kind != mapKind || v.get("mcpServers") == nil {
		return known
	}
	all := maps.Clone(known)
	for _, f := range v.fields {
		if known[f.key.text] == nil && nearestKey(f.key.text, known) == "" {
			all[f.key.text] = Value.ignored
		}
	}
	return all
}

// sectionKeys returns the decoder functions of the top-level keys.
func sectionKeys(c *Config, l *layers) Keys {
	return Keys{
		"version":    readVersion,
		"extends":    func(v Value) { l.bases = l.reader.bases(v) },
		"mcpServers": readServers(&c.Servers),
		"rules":      into(&c.Rules, readRules),
		"nets":       into(&c.Nets, readNets),
		"default":    into(&c.Default, oneOf([]string{"allow", "deny"}, "ask")),
		"mode":       into(&c.Mode, oneOf([]string{"enforce", "shadow"})),
		"advertise":  into(&c.Advertise, oneOf([]string{"all", "possible", "enabled"})),
		"startup":    l.scalar("startup"),
		"active": func(v Value) {
			into(&c.Active, each(Value.plain))(v)
			c.ActivePosition = v.position(v.key)
		},
		"shell":  readShell(&c.Shell),
		"listen": func(v Value) { readListen(v, c, l) },
		"approval": l.trackFaults(func(v Value) {
			l.section(v, Keys{
				"channels": l.fileOnly("approval.channels", into(&c.Approval.Channels, readChannels)),
				"mask":     into(&c.Approval.Mask, nonEmpty(each(checked(checkNotEmpty, checkMask)))),
				"ignore":   into(&c.Approval.Ignore, nonEmpty(each(checked(checkNotEmpty, checkIgnore)))),
				"holds":    l.fileOnly("approval.holds", into(&c.Approval.Holds, readHolds)),
				"grants":   into(&c.Approval.Grants, readGrants),
				"self":     into(&c.Approval.Self, Value.Flag),
				"people":   into(&c.Approval.People, readPeople),
				"desktop":  into(&c.Approval.Desktop, Value.Flag),
				"pin":      l.fileOnly("approval.pin", into(&c.Approval.PIN, checked(checkNotEmpty, checkPIN))),
				"webhook":  l.fileOnly("approval.webhook", into(&c.Approval.Webhook, readWebhook)),
			})
		}),
		"console": func(v Value) { l.section(v, Keys{"allowedHosts": into(&c.Console.AllowedHosts, each(Value.plain))}) },
		"pinning": func(v Value) {
			v.Fields(Keys{
				"mode": into(&c.Pinning.Mode, oneOf(pinningModes)),
				"file": l.fileOnly("pinning.file", into(&c.Pinning.File, readPath)),
			})
		},
		"audit":     l.trackFaults(func(v Value) { readAudit(v, c, l) }),
		"log":       func(v Value) { l.section(v, Keys{"file": Value.unsupported}) },
		"session":   l.trackFaults(func(v Value) { readSession(v, c, l) }),
		"state":     l.trackFaults(func(v Value) { readState(v, c, l) }),
		"telemetry": func(v Value) { l.section(v, Keys{}) },
	}
}

// readShell reads the section "shell".
func readShell(s *Shell) func(Value) {
	return func(v Value) {
		v.Fields(Keys{
			"doubt":    into(&s.Doubt, oneOf(shellDoubts)),
			"strict":   into(&s.Strict, Value.Flag),
			"pipefail": into(&s.Pipefail, oneOf(shellPipefails)),
		})
	}
}

func readVersion(v Value) {
	if v.is(numberKind) && v.text != "1" {
		v.Fault(fmt.Sprintf("version %s of the configuration is not supported", v.text), "this is version 1")
	}
}

// All approval channels, and those that are enabled by default. Read-only.
var (
	approvalChannels = []string{"elicit", "url", "web", "cli", "webhook"}
	defaultChannels  = []string{"elicit", "web", "cli"}
)

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
	channels, ok := each(oneOf(approvalChannels))(v)
	for i, item := range v.list() {
		if slices.ContainsFunc(v.items[:i], func(n *node) bool { return n.text == item.text }) {
			v.faultAt(item, fmt.Sprintf("%q is listed twice", item.text), "")
		}
	}
	return channels, ok
}
