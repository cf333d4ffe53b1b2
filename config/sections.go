package config

import (
	"fmt"
	"maps"
	"slices"
)

// readRoot decodes the whole file into c. Scalars that other layers can override are recorded in l.
func readRoot(v Value, c *Config, l *layers) {
	v.Fields(withClientKeys(v, sectionKeys(c, l)))
	if active := v.get("active"); active != nil && c.Active != nil && v.get("nets") == nil {
		v.faultAt(active, `"active" has no meaning without "nets"`, "")
	}
}

// readServersAlone decodes the servers and ignores all other sections.
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

// withClientKeys returns known extended so that unknown keys are ignored in a JSON file with
// servers, because such a file may belong to a client. A key that resembles a known key is still
// reported as a misspelling.
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

// sectionKeys returns the decoder functions for the top-level keys.
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

func readVersion(v Value) {
	if v.is(numberKind) && v.text != "1" {
		v.Fault(fmt.Sprintf("version %s of the configuration is not supported", v.text), "this is version 1")
	}
}

func readAudit(v Value, c *Config, l *layers) {
	a := &c.Audit
	l.section(v, Keys{
		"arguments": l.fileOnly("audit.arguments", into(&a.Arguments, checked(checkWord(argumentForms)))),
		"mask":      l.fileOnly("audit.mask", into(&a.Mask, nonEmpty(each(checked(checkNotEmpty, checkMask))))),
		"rotate":    l.fileOnly("audit.rotate", into(&a.Rotate, readRotate)),
		"keep":      l.fileOnly("audit.keep", into(&a.Keep, readKeep)),
	})
}

func readListen(v Value, c *Config, l *layers) {
	var stdio *node
	o := &c.Listen
	o.origin = origin{v.source, v.node}
	l.section(v, Keys{
		"stdio": func(v Value) {
			into(&o.Stdio, Value.Flag)(v)
			stdio = v.node
		},
		"jwt": func(v Value) {
			into(&o.JWT, readJWT)(v)
			l.set["listen.jwt"] = v.key
		},
		"allowedHosts":     into(&o.AllowedHosts, each(Value.setting)),
		"allowedOrigins":   into(&o.AllowedOrigins, each(Value.setting)),
		"maxSessions":      into(&o.MaxSessions, Value.positive),
		"maxSessionsTotal": into(&o.MaxSessionsTotal, Value.positive),
		"path":             into(&o.Path, checked(checkNotEmpty, checkPath)),
		"tls":              into(&o.TLS, readTLS),
		"maxBody":          into(&o.MaxBody, size(minBody)),
		"maxHeader":        into(&o.MaxHeader, size(minHeader)),
		"maxConnections":   into(&o.MaxConnections, Value.positive),
		"timeouts":         into(&o.Timeouts, readTimeouts),
		"hooks":            into(&o.Hooks, Value.Flag),
	})
	http := v.get("http")
	switch {
	case stdio == nil:
	case http != nil && o.Stdio:
		v.faultAt(stdio, `"stdio" and "http" exclude each other`, "keep one of them")
	case http == nil && !o.Stdio && stdio.kind == boolKind:
		v.faultAt(stdio, `without "stdio", "http" is required`, `http: "127.0.0.1:7777"`)
	}
	for _, f := range v.fields { // only record warnings for now, because a flag may still set the address
		if http == nil && !slices.Contains([]string{"stdio", "maxBody"}, f.key.text) {
			l.httpOnly = append(l.httpOnly, f.key)
		}
	}
}

func readState(v Value, c *Config, l *layers) {
	s := &c.State
	v.Fields(Keys{
		"driver": l.fileOnly("state.driver", into(&s.Driver, checked(checkWord(stateDrivers)))),
		"path":   l.fileOnly("state.path", into(&s.Path, readPath)),
		"dsn":    l.fileOnly("state.dsn", into(&s.DSN, checked(checkNotEmpty, checkDSN))),
		"sync":   l.fileOnly("state.sync", into(&s.Sync, checked(checkWord(syncModes)))),
	})
}

func readSession(v Value, c *Config, l *layers) {
	l.section(v, Keys{
		"by":     l.fileOnly("session.by", into(&c.Session.By, oneOf(sessionBys))),
		"header": l.fileOnly("session.header", into(&c.Session.Header, checked(checkNotEmpty, checkHeaderName))),
		"meta":   l.fileOnly("session.meta", into(&c.Session.Meta, checked(checkNotEmpty, checkMetaKey))),
	})
}
