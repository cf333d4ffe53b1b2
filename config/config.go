package config

import "time"

// DefaultStartup is how long the first tools/list waits for the servers if no
// configuration sets it.
const DefaultStartup = 10 * time.Second

// A Config is one configuration, checked and complete. Values of "state" and
// "session" are not in it: this version keeps state in memory, one session for
// each connection, and refuses a file that asks for anything else.
type Config struct {
	File    string   // "": no file
	Servers []Server // in the order of the file

	Rules  []RuleText
	Nets   []Net
	Active []string // names of the active nets; nil: all
	// ActivePosition is the position of Active, for errors about unknown names.
	ActivePosition Position
	Default        string // "allow" or "deny": a call on which all nets abstain
	Mode           string // "enforce" or "shadow": decide and record, and never block or ask
	Advertise      string // "all", "possible" or "enabled": which tools are listed

	Listen   Listen
	Approval Approval
	Audit    Audit
	Log      Log
	Startup  time.Duration // how long the first list waits for upstreams

	Warnings ErrorList

	secrets func() []string // a function, so that no printing of c shows them

	origin // its function Of has the positions of the top-level values
}

// Approval configures human approval.
type Approval struct {
	Channels []string      // of "elicit" and "cli", in order; all are open at once
	Hold     time.Duration // how long a call waits before it is parked
	Expire   time.Duration // how long an approval can be answered and used
	Cooldown time.Duration // how long a denial refuses the same call
}

// Audit configures the audit log.
type Audit struct {
	File string // "": nowhere
}

// Log configures the log for people.
type Log struct {
	Level  string // "debug", "info", "warn", "error"
	Format string // "auto", "text", "json"
}
