// Package config reads petrigate's configuration, a single YAML file, and checks it strictly.
//
// The file is parsed only once, into a tree of values with their lines and columns. Anything
// unexpected (an unknown key, a duplicate, a wrong type, a key reserved for a later version) is an
// [Error] with a position, the source line and, if possible, a suggestion. All errors are reported
// together. Nothing is guessed, and nothing is ignored.
//
//	version: 1
//	mcpServers:
//	  files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"] }
//	rules:
//	  - inline: |
//	      require backup before delete
//	audit: { file: audit.jsonl }
//
// JSON is a subset of YAML, so the mcpServers block of a client can be pasted unchanged. A whole
// JSON file with servers may also have other settings of the client: unknown keys at its top level
// cause only a warning, unless they resemble known ones. [Load] finds and reads a file, [Servers]
// reads only the servers in it, [Parse] reads bytes, and [ParseNet] reads nets.
//
// A configuration is read in four stages. First, the file is parsed into a tree of nodes with
// positions. Second, a decoder walks the tree, using the methods of [Value] and tables of [Keys]. It
// records every mistake and fills a [Config]. Third, settings with a single value are merged: a flag
// overrides the environment, which overrides the file, which overrides the default. Settings that
// could loosen a policy come only from the file. Fourth, the settings of each section are checked
// against each other.
//
// The package starts no goroutines and uses no locks. It never prints a value that replaced a
// ${...}: errors and excerpts show the text of the file with secrets replaced by stars. It does not
// interpret rules, nets or expressions; packages rules, gate and internal/cel do that.
package config

import (
	_ "embed"
	"strings"
	"time"
)

// DefaultStartup is the default value of the setting "startup", which is how long the first
// tools/list request waits for the servers.
const DefaultStartup = 10 * time.Second

// A Config is a complete, checked configuration.
type Config struct {
	File    string   // path of the configuration file; empty if no file was read
	Servers []Server // servers, in file order

	Bases  []Base `json:",omitempty"` // base policies; their rules and nets come first in Rules and Nets
	Rules  []RuleText
	Nets   []Net
	Active []string // names of the active nets; nil means all
	// ActivePosition is the position of "active", for errors about unknown net names.
	ActivePosition Position
	Default        string // verdict if all nets abstain: "allow" or "deny"
	Mode           string // "enforce" or "shadow"; in shadow mode, the proxy decides and records but never blocks or asks
	Advertise      string // tools that tools/list returns: "all", "possible" or "enabled"

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
	Startup   time.Duration // how long the first tools/list request waits for the servers

	Warnings ErrorList

	// Sums holds the hexadecimal SHA-256 checksum of each file that was read (the configuration,
	// rules and nets), keyed by file name.
	Sums map[string]string `json:"-"`

	// TextOnly reports whether the file was read as plain text, because it was discovered in a
	// directory and is not trusted. In plain text, every ${...} that refers to a variable or
	// another file is left verbatim, and environment files are not read. A program must not start,
	// open or connect to anything that the configuration names, nor send anything to it.
	TextOnly   bool     `json:"-"`
	References []string `json:"-"` // each ${...} and each environment file that was not looked up because TextOnly is set

	Targets []string `json:"-"` // URL of each system that receives approval requests, or the system's name if its URL is unknown

	secrets func() []string // returns the secrets; a function, so that printing the Config does not reveal them

	origin // root node of the file, for finding the positions of top-level values
}

// Console configures the web console.
type Console struct {
	HTTP         string   // loopback address of the console, or "off"; if empty, an address is chosen when the console is opened
	AllowedHosts []string // additional host names that browsers may use, such as the name of a reverse proxy
}

// Pinning configures what happens when a server changes a tool definition that has been accepted.
type Pinning struct {
	Mode string // "off", "warn" or "enforce"; with "enforce", a changed tool is hidden and refused until a person accepts the change
	File string // file for accepted definitions; empty means the PostgreSQL database or, without one, a default file for this configuration
}

// Log configures the log of the process.
type Log struct {
	Level  string // lowest level to log: "debug", "info", "warn" or "error"
	Format string // "auto", "text" or "json"
}

// schema is the JSON Schema of a configuration. It is read-only. A test compares its keys with
// those that the decoder accepts.
//
//go:embed petrigate.schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a configuration, for use by editors.
func Schema() string { return schema }

// NetSchema returns the JSON Schema of a net file.
func NetSchema() string {
	return strings.NewReplacer(
		"#/$defs/configuration", "#/$defs/netFile",
		"petrigate/petrigate.schema.json", "petrigate/net.schema.json",
		`"title": "petrigate.yaml"`, `"title": "petrigate net"`,
		"petrigate configuration: upstream servers and the policy that governs calls to their tools.", "Petri nets of tools, for petrigate.",
	).Replace(schema)
}

// pinningModes lists the values of pinning.mode, weakest first. It is read-only.
var pinningModes = []string{"off", "warn", "enforce"}
