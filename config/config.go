package config

import "time"

// DefaultStartup is how long the first list of tools waits for the servers,
// where no configuration says it.
const DefaultStartup = 10 * time.Second

// A Config is one configuration, checked and complete. Values of "state" and
// "session" are not in it: this version keeps state in memory, one session for
// each connection, and refuses a file that asks for anything else.
type Config struct {
	File    string   // "" where there is none
	Servers []Server // in the order of the file

	Rules  []RuleText
	Nets   []Net
	Active []string // names of the active nets; nil: all
	// ActivePosition is where Active stands, for a name that no net has.
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

	origin // its function Of has the places of what stands at the top
}

// Approval is how people are asked.
type Approval struct {
	Channels []string      // of "elicit" and "cli", in order; all are open at once
	Hold     time.Duration // how long a call waits before it is parked
	Expire   time.Duration // how long an approval can be answered and used
	Cooldown time.Duration // how long a denial stands against the same call
}

// Audit is where decisions are recorded.
type Audit struct {
	File string // "": nowhere
}

// Log is what people read.
type Log struct {
	Level  string // "debug", "info", "warn", "error"
	Format string // "auto", "text", "json"
}
