package audit

import "time"

// A Process event records that a process starts or ends. In a database, each process has its own
// chain. A chain's first record contains the ends of all other chains, so that a truncated chain is
// detected.
type Process struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // "start" or "end"
	Process string    `json:"process"`
	Version string    `json:"version,omitempty"`
	Driver  string    `json:"driver,omitempty"` // session state driver: "memory", "sqlite" or "postgres"
	Heads   []Head    `json:"heads,omitempty"`
}

// A Policy event records that a policy came into force.
type Policy struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // always "policy"
	Process   string    `json:"process"`
	Policy    string    `json:"policy"` // fingerprint of the policy
	Files     []File    `json:"files,omitempty"`
	Active    []string  `json:"active,omitempty"`    // active nets; nil: all
	Fields    []string  `json:"fields,omitempty"`    // argument fields whose values the nets read
	Results   []string  `json:"results,omitempty"`   // result fields whose values the nets read
	Maps      []string  `json:"maps,omitempty"`      // maps that give names to calls; each map is recorded as a prefix of its hash
	Actions   []string  `json:"actions,omitempty"`   // names in nets that contain a dot; only for these names is a call's action determined
	Rows      bool      `json:"rows,omitempty"`      // some net counts equal calls in a row
	Arguments string    `json:"arguments,omitempty"` // the form of recorded arguments: "hash", "masked" or "full"
}

// A File is one of a policy's source files.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// A Session event records that a session starts or ends.
type Session struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // "session opened" or "session closed"
	Session   string    `json:"session"`
	Principal string    `json:"principal"`
	Process   string    `json:"process,omitempty"`
}

// A Removed event records that old records are removed from a database. For each listed chain, the
// records up to the listed one are removed. The event is written before the removal, and afterwards
// a chain may begin with the record after the listed one. Each event lists all chains that are
// shortened or removed completely.
type Removed struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`   // always "removed"
	Before  time.Time `json:"before"`  // all removed records are older than this time
	Records uint64    `json:"records"` // total number of records removed so far, including those of this event
	Chains  []Head    `json:"chains"`  // last removed record of each chain
}
