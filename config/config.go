// Package config reads the configuration of petrigate, one YAML file, and checks it strictly.
//
// The file is parsed once into a tree in which every value knows its line and column. Anything
// unexpected (an unknown key, a duplicate, a wrong type, a key reserved for a later version) is an
// [Error] with that position, the source line and, if possible, a suggestion. All errors are
// reported at once. Nothing is guessed and nothing is ignored.
//
//	version: 1
//	mcpServers:
//	  files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"] }
//	rules:
//	  - inline: |
//	      require backup before delete
//	audit: { file: audit.jsonl }
//
// JSON is YAML, so the mcpServers block of a client can be pasted unchanged. [Load] finds and reads
// a file, [Servers] reads only its servers, [Parse] reads bytes, and [ParseNet] reads nets.
//
// Reading has three stages. A source turns bytes into a tree of nodes with positions. A decoder
// walks the tree through [Value] and tables of [Keys], which record every mistake and fill a
// [Config]. The layers then merge the scalars: a flag overrides the environment, which overrides
// the file, which overrides the default. Settings that could loosen a policy come from the file
// alone. Last, each section checks its settings against each other (the settle methods).
//
// The package has no goroutines and no locks. It never prints the result of an interpolation:
// errors and excerpts show the text of the file with secrets replaced by stars. It does not
// interpret rules, nets or expressions; packages rules, gate and internal/cel do.
package config

import (
	_ "embed"
	"strings"
	"time"
)

// DefaultStartup is the default of the setting "startup": how long the first tools/list waits for
// the servers.
const DefaultStartup = 10 * time.Second

// A Config is a complete, checked configuration.
type Config struct {
	File    string   // empty: no file
	Servers []Server // in file order

	Bases  []Base `json:",omitempty"` // base policies; their rules and nets come first in Rules and Nets
	Rules  []RuleText
	Nets   []Net
	Active []string // names of the active nets; nil: all
	// ActivePosition is the position of "active", for errors about unknown net names.
	ActivePosition Position
	Default        string // "allow" or "deny": the verdict when all nets abstain
	Mode           string // "enforce", or "shadow": decide and record, but never block or ask
	Advertise      string // "all", "possible" or "enabled": which tools tools/list returns

	Shell     Shell `json:",omitzero"`
	Listen    Listen
	Session   Session
	State     State
	Approval  Approval
	Console   Console
	Pinning   Pinning
	Audit     Audit
	Telemetry Telemetry
	Log       Log
	Startup   time.Duration // how long the first tools/list waits for the servers

	Warnings ErrorList

	// Sums maps the name of each file that was read (the configuration, rules, nets) to the SHA-256
	// of its contents, in hex.
	Sums map[string]string `json:"-"`

	// TextOnly is set for a file that no person has named or trusted. Such a file is read as text:
	// ${...} and environment files are not looked up, so the values that use them are verbatim or
	// missing. Nothing that the configuration names must be started, opened, connected to or sent.
	TextOnly   bool     `json:"-"`
	References []string `json:"-"` // with TextOnly: the ${...} and environment files that were not looked up

	secrets func() []string // a function, so that printing c cannot show them

	origin // its method Of returns the positions of top-level values
}

// Console configures the web console.
type Console struct {
	HTTP         string   // loopback address; empty: chosen when the console is opened; "off": no console
	AllowedHosts []string // additional host names that browsers may use, such as that of a reverse proxy
}

// Pinning configures what happens when a server changes the definition of a tool after it was
// accepted.
type Pinning struct {
	Mode string // "off", "warn", or "enforce": hide and refuse the tool until a person accepts it
	File string // file of accepted definitions; empty: the database if it is PostgreSQL, otherwise a default path for this configuration
}

// Log configures the process log.
type Log struct {
	Level  string // "debug", "info", "warn" or "error"
	Format string // "auto", "text" or "json"
}

// schema is the JSON Schema of a configuration. Read-only. A test compares its keys with those that
// the decoder knows.
//
//go:embed petrigate.schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a configuration, for editors.
func Schema() string { return schema }

// NetSchema returns the JSON Schema of a net file.
func NetSchema() string {
	return strings.NewReplacer(
		"#/$defs/configuration", "#/$defs/netFile",
		"petrigate/petrigate.schema.json", "petrigate/net.schema.json",
		`"title": "petrigate.yaml"`, `"title": "petrigate net"`,
		"The configuration of petrigate: upstream servers, and the policy that their tools are called under.", "Petri nets of tools, for petrigate.",
	).Replace(schema)
}

// pinningModes lists the values of pinning.mode, weakest first. Read-only.
var pinningModes = []string{"off", "warn", "enforce"}
