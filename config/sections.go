package config

import (
	"fmt"
	"maps"
	"slices"
)

// readRoot decodes the whole file. It stores base policies and scalars in l, and all other settings
// in c. Scalars are settings with a single value that the environment and flags can override.
func readRoot(v Value, c *Config, l *layers) {
	v.Fields(withClientKeys(v, sectionKeys(c, l)))
	if active := v.get("active"); active != nil && c.Active != nil && v.get("nets") == nil {
		v.faultAt(active, `"active" has no effect without "nets"`, "")
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

// withClientKeys returns the keys that the decoder accepts at the top level of a file. A JSON file
// with servers may belong to an MCP client, so keys that do not resemble a known one are accepted
// with a warning.
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
		"version": readVersion,
		"extends": func(v Value) { l.bases = l.reader.bases(v) },
		"mcpServers": func(v Value) {
			v.Each(func(_ string, entry Value) { c.Servers = append(c.Servers, readServer(entry)) })
		},
		"rules":     into(&c.Rules, readRules),
		"nets":      into(&c.Nets, readNets),
		"default":   into(&c.Default, oneOf([]string{"allow", "deny"}, "ask")),
		"mode":      into(&c.Mode, oneOf([]string{"enforce", "shadow"})),
		"advertise": into(&c.Advertise, oneOf([]string{"all", "possible", "enabled"})),
		"startup":   l.scalar("startup"),
		"active": func(v Value) {
			into(&c.Active, listOf(Value.plain))(v)
			c.ActivePosition = v.position(v.key)
		},
		"shell":    readShell(&c.Shell),
		"listen":   func(v Value) { readListen(v, c, l) },
		"approval": l.trackFaults(readApproval(&c.Approval, l)),
		"console":  func(v Value) { l.section(v, Keys{"allowedHosts": into(&c.Console.AllowedHosts, listOf(Value.plain))}) },
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
	if v.hasKind(numberKind) && v.text != "1" {
		v.Fault(fmt.Sprintf("version %s of the configuration is not supported", v.text), "this is version 1")
	}
}
