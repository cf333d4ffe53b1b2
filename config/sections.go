package config

import (
	"fmt"
	"maps"
	"slices"
)

// readRoot decodes the whole file into c; the scalars that other layers may
// override go to l.
func readRoot(d *decoder, n *node, c *Config, l *layers) {
	d.mapping(n, theConfiguration, withClientKeys(d, n, sectionKeys(d, c, l)))
	if n.kind == mapKind && c.Active != nil && n.get("nets") == nil {
		d.at(n.get("active"), `"active" has no meaning without "nets"`, "")
	}
}

const theConfiguration = "the configuration"

// readServersAlone decodes the servers, and leaves the other sections as they are.
func readServersAlone(d *decoder, n *node, to *[]Server) {
	known := sectionKeys(d, &Config{}, &layers{})
	for name := range known {
		known[name] = func(_, _ *node) {}
	}
	known["mcpServers"] = func(key, value *node) {
		d.each(value, quoted(key), func(name, entry *node) {
			before := len(d.errs)
			s := readServer(d, name, entry)
			s.Problems, d.errs = slices.Clone(d.errs[before:]), d.errs[:before]
			s.Problems.Sort()
			*to = append(*to, s)
		})
	}
	d.mapping(n, theConfiguration, withClientKeys(d, n, known))
}

// withClientKeys ignores the other keys of a client's file: a configuration in JSON with
// servers may be such a file. A key that resembles one of ours is a misspelling.
func withClientKeys(d *decoder, n *node, known keys) keys {
	if !d.json || n.kind != mapKind || n.get("mcpServers") == nil {
		return known
	}
	all := maps.Clone(known)
	for _, f := range n.fields {
		if known[f.key.text] == nil && hint(f.key.text, known) == "" {
			all[f.key.text] = d.ignored
		}
	}
	return all
}

// sectionKeys returns the top-level keys of the file.
func sectionKeys(d *decoder, c *Config, l *layers) keys {
	return keys{
		"version":    readVersion(d),
		"mcpServers": readServers(d, &c.Servers),
		"rules":      readRules(d, &c.Rules),
		"nets":       readNets(d, &c.Nets),
		"active":     readActive(d, c),
		"default":    d.oneOf(&c.Default, []string{"allow", "deny"}, []string{"ask"}),
		"listen":     readListen(d, c, l),
		"approval":   readApproval(d, c, l),
		"audit":      readAudit(d, l),
		"log":        readLog(d, l),
		"startup":    d.scalar(l, "startup", false),

		"mode":      d.oneOf(&c.Mode, []string{"enforce", "shadow"}, nil),
		"advertise": d.oneOf(&c.Advertise, []string{"all", "possible", "enabled"}, nil),
		"session":   readSection(d, "by", "connection", "principal", "name", "header", "meta"),
		"state":     readSection(d, "driver", "memory", "sqlite", "postgres"),
	}
}

func readVersion(d *decoder) func(key, value *node) {
	return func(key, value *node) {
		if d.is(value, numberKind, quoted(key)) && value.text != "1" {
			d.at(value, fmt.Sprintf("version %s of the configuration is not supported", value.text), "this is version 1")
		}
	}
}

func readActive(d *decoder, c *Config) func(key, value *node) {
	return func(key, value *node) {
		d.list(&c.Active)(key, value)
		c.ActivePosition = d.position(key)
	}
}

// onlyWord accepts the single value that this version supports.
func onlyWord(d *decoder, word string, later ...string) func(key, value *node) {
	return d.oneOf(new(string), []string{word}, later)
}

// readSection reads a mapping with one key that accepts one value.
func readSection(d *decoder, name, word string, later ...string) func(key, value *node) {
	known := keys{name: onlyWord(d, word, later...)}
	for _, key := range []string{"path", "dsn", "name", "header", "meta", "idle", "file"} {
		if key != name {
			known[key] = d.later
		}
	}
	return func(key, value *node) { d.mapping(value, quoted(key), known) }
}

func readApproval(d *decoder, c *Config, l *layers) func(key, value *node) {
	return func(key, value *node) {
		d.mapping(value, quoted(key), keys{
			"channels": readChannels(d, &c.Approval.Channels),
			"hold":     d.scalar(l, "approval.hold", false),
			"expire":   d.scalar(l, "approval.expire", false),
			"cooldown": d.scalar(l, "approval.cooldown", false),
			"mask":     d.later, "webhook": d.later,
		})
	}
}

// The channels for approvals. Read-only.
var (
	approvalChannels = []string{"elicit", "cli"}
	laterChannels    = []string{"web", "url", "webhook"}
)

func readChannels(d *decoder, to *[]string) func(key, value *node) {
	return func(key, value *node) {
		*to = []string{}
		d.items(key, value, func(item *node) {
			if !d.word(key, item, item.text, approvalChannels, laterChannels) {
				return
			}
			if slices.Contains(*to, item.text) {
				d.at(item, fmt.Sprintf("%q is listed twice", item.text), "")
			}
			*to = append(*to, item.text)
		})
	}
}

func readAudit(d *decoder, l *layers) func(key, value *node) {
	return func(key, value *node) {
		d.mapping(value, quoted(key), keys{
			"file":  d.scalar(l, "audit.file", true),
			"chain": d.later, "values": d.later, "mask": d.later, "redact": d.later, "sync": d.later,
		})
	}
}

func readLog(d *decoder, l *layers) func(key, value *node) {
	return func(key, value *node) {
		d.mapping(value, quoted(key), keys{
			"level":  d.scalar(l, "log.level", false),
			"format": d.scalar(l, "log.format", false),
			"file":   d.later,
		})
	}
}

// scalar reads a value that a flag or the environment may override.
func (d *decoder) scalar(l *layers, name string, path bool) func(key, value *node) {
	return func(key, value *node) {
		known := scalars[name]
		text, ok := d.checked(key, value, known.duration, known.check)
		if !ok {
			return
		}
		if path {
			text = d.absolute(text)
		}
		l.file[name] = text
		l.at[name] = value
	}
}

// checked reads a text that passes a check; timed reads a duration.
func (d *decoder) checked(key, value *node, timed bool, check func(what, shown, text string) (msg, hint string)) (text string, ok bool) {
	if timed && value.kind == numberKind {
		d.at(value, quoted(key)+" needs a unit", fmt.Sprintf("for example %q", value.text+"s"))
		return "", false
	}
	if !d.is(value, textKind, quoted(key)) {
		return "", false
	}
	before := len(d.errs)
	text = d.interpolated(value)
	if len(d.errs) > before {
		return "", false
	}
	if msg, hint := check(quoted(key), shown(value), text); msg != "" {
		d.at(value, msg, hint)
		return "", false
	}
	return text, true
}
