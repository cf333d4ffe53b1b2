// Package config reads the configuration of petrigate: one YAML file, strictly.
//
// The file is parsed once into a tree in which every value knows its line and
// column. Whatever is not understood (an unknown key, a duplicate, a wrong
// type, a key that only a later version will support) is an [Error] with that
// position, the source line and, where one is near, a suggestion; all of them
// are reported at once. Nothing is guessed and nothing is ignored.
//
//	version: 1
//	mcpServers:
//	  files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"] }
//	rules:
//	  - inline: |
//	      require backup before delete
//	audit: { file: audit.jsonl }
//
// JSON is YAML, so the mcpServers block of a client can be pasted as it is.
// [Load] finds and reads a file, [Servers] the servers of one, [Parse] reads bytes,
// [ParseNet] reads nets.
package config

import (
	_ "embed"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/diag"
)

// A Position is a position in a file of the user.
type Position = diag.Position

// An Error is one problem in a configuration, with its position. It never contains
// the result of an interpolation.
type Error = diag.Problem

// An ErrorList has every problem of a configuration, in the order of the file.
type ErrorList = diag.List

// Text renders err for a person: with excerpts if it wraps an [ErrorList] or an
// [Error], otherwise as err.Error().
func Text(err error) string { return diag.Text(err) }

// DefaultStartup is how long the first tools/list waits for the servers if no
// configuration sets it.
const DefaultStartup = 10 * time.Second

// A Config is one configuration, checked and complete.
type Config struct {
	File    string   // "": no file
	Servers []Server // in the order of the file

	Bases  []Base `json:",omitempty"` // that it extends; their rules and nets are the first ones of these
	Rules  []RuleText
	Nets   []Net
	Active []string // names of the active nets; nil: all
	// ActivePosition is the position of Active, for errors about unknown names.
	ActivePosition Position
	Default        string // "allow" or "deny": a call on which all nets abstain
	Mode           string // "enforce" or "shadow": decide and record, and never block or ask
	Advertise      string // "all", "possible" or "enabled": which tools are listed

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
	Startup   time.Duration // how long the first list waits for upstreams

	Warnings ErrorList

	// Sums are the SHA-256, in hex, of what was in the files when they were read: of the
	// configuration, of rules and of nets, by their names.
	Sums map[string]string `json:"-"`

	// TextOnly means that the file was read as text: no person has named or trusted it. Variables and files of
	// ${...} were not looked up, so what they are in is as it was written, or missing. Nothing that the
	// configuration names may be started, opened, connected to or sent.
	TextOnly   bool     `json:"-"`
	References []string `json:"-"` // with TextOnly: the ${...} and the files of variables that were not looked up

	secrets func() []string // a function, so that no printing of c shows them

	origin // its function Of has the positions of the top-level values
}

// Shell says how maps with runs, reads and writes read scripts.
type Shell struct {
	Doubt  string `json:",omitempty"` // the answer to a script that may run a blocked command: "refuse", "ask" or "pass"; empty: refuse
	Strict bool   `json:",omitempty"` // a script that is not wholly understood may run any command

	// Pipefail is "add" where agents whose hooks can change a script run it with set -o pipefail, if that alone is
	// missing for it to be evidence; "leave" or empty: they run it unchanged.
	Pipefail string `json:",omitempty"`
}

// AddsPipefail reports whether Pipefail is "add".
func (s *Shell) AddsPipefail() bool { return s.Pipefail == "add" }

// shellDoubts are the values of shell.doubt, the strictest last, and shellPipefails those of shell.pipefail.
var (
	shellDoubts    = []string{"pass", "ask", "refuse"}
	shellPipefails = []string{"leave", "add"}
)

// Approval configures human approval.
type Approval struct {
	Channels []string      // of "elicit", "url", "web", "cli" and "webhook", in order; all are open at once
	Hold     time.Duration // how long a call waits before it is parked; see [Approval.HoldFor]
	Expire   time.Duration // how long an approval can be answered and used
	Cooldown time.Duration // how long a denial refuses the same call
	Mask     []string      // names of fields, and paths that begin with "$.", whose values people do not see

	Ignore []string `json:",omitempty"` // arguments, as TOOL.FIELD, that are no part of the identity of a call

	Holds   map[string]time.Duration // by the names of clients; a "*" at the end stands for anything
	HoldSet bool                     // Hold is for all clients that Holds does not name
	Webhook *Webhook                 `json:",omitempty"` // with the channel "webhook"; otherwise nil
	PIN     string                   `json:"-"`          // hash of what a person types to approve; "": nothing is typed
	Desktop bool                     `json:",omitempty"` // a notification on this desktop says that a call waits
	Self    bool                     `json:",omitempty"` // who calls may approve their own call
	People  map[string]string        `json:",omitempty"` // principals of clients, by the names of the persons who they are
	Grants  time.Duration            `json:",omitempty"` // how long a grant is valid at most; 0: an hour; less: none is given
}

// Console configures the pages for people.
type Console struct {
	HTTP         string   // address, of this machine; "": one is chosen when somebody opens the console; "off": there is none
	AllowedHosts []string // further names by which browsers may call it, as behind a reverse proxy
}

// Pinning configures what becomes of a tool whose server says something else of it than what
// was accepted.
type Pinning struct {
	Mode string // "off", "warn", or "enforce": it is neither listed nor called until a person accepts it
	File string // with the definitions that were accepted; "": the database, if it is PostgreSQL, or a place for this configuration
}

// Log configures the log for people.
type Log struct {
	Level  string // "debug", "info", "warn", "error"
	Format string // "auto", "text", "json"
}

// schema is the JSON Schema of a configuration. Read-only. A test holds its
// keys to those that the decoder knows.
//
//go:embed petrigate.schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a configuration, for editors.
func Schema() string { return schema }

// NetSchema returns the JSON Schema of a file of nets.
func NetSchema() string {
	return strings.NewReplacer(
		"#/$defs/configuration", "#/$defs/netFile",
		"petrigate/petrigate.schema.json", "petrigate/net.schema.json",
		`"title": "petrigate.yaml"`, `"title": "petrigate net"`,
		"The configuration of petrigate: upstream servers, and the policy that their tools are called under.", "Petri nets of tools, for petrigate.",
	).Replace(schema)
}
