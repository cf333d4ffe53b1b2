package audit

import "time"

// A Process event records the start or end of a process. In a database, each process has its own
// chain. The first record of a chain contains the heads of other chains, so that truncation of
// those chains can be detected.
type Process struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // "start" or "end"
	Process string    `json:"process"`
	Version string    `json:"version,omitempty"`
	Driver  string    `json:"driver,omitempty"` // where session state is kept: "memory", "sqlite" or "postgres"
	Heads   []Head    `json:"heads,omitempty"`
}

// A Policy event records that a policy took effect.
type Policy struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // always "policy"
	Process   string    `json:"process"`
	Policy    string    `json:"policy"` // the policy's fingerprint
	Files     []File    `json:"files,omitempty"`
	Active    []string  `json:"active,omitempty"`    // active nets; nil means all nets
	Fields    []string  `json:"fields,omitempty"`    // argument fields that the nets read
	Results   []string  `json:"results,omitempty"`   // result fields that the nets read
	Maps      []string  `json:"maps,omitempty"`      // short hashes that identify the policy's map statements, which give calls additional names
	Actions   []string  `json:"actions,omitempty"`   // names with a dot that occur in the nets; a call to TOOL whose argument "action" is ACTION has the name TOOL.ACTION
	Rows      bool      `json:"rows,omitempty"`      // whether a net counts consecutive identical calls
	Arguments string    `json:"arguments,omitempty"` // how arguments are recorded: "hash", "masked" or "full"
}

// A File is a source file of a policy.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// A Session event records the start or end of a session.
type Session struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // "session opened" or "session closed"
	Session   string    `json:"session"`
	Principal string    `json:"principal"`
	Process   string    `json:"process,omitempty"`
}

// A Removed event records that old records are about to be removed from a database. For each chain,
// Chains contains the last record removed by this or an earlier event; the rest of the chain begins
// after it. Chains without removed records, and chains emptied by earlier events, are left out.
type Removed struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`   // always "removed"
	Before  time.Time `json:"before"`  // the removed records are older than this time
	Records uint64    `json:"records"` // number of records removed so far, including those of this event
	Chains  []Head    `json:"chains"`  // the last removed record of each chain
}
