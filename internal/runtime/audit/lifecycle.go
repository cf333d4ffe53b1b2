package audit

import "time"

// A Process event records that a process begins or ends its work. In a database, where each
// process has a chain of its own, the first record of a chain names the ends of the others,
// so that a chain of which the end was cut off is missed.
type Process struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // start, end
	Process string    `json:"process"`
	Version string    `json:"version,omitempty"`
	Driver  string    `json:"driver,omitempty"` // of the states: memory, sqlite, postgres
	Heads   []Head    `json:"heads,omitempty"`
}

// A Head is the last record of a chain.
type Head struct {
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`
	Hash   string `json:"hash"`
}

// A Policy event records that a policy is in force from now on.
type Policy struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // policy
	Process   string    `json:"process"`
	Policy    string    `json:"policy"` // its fingerprint
	Files     []File    `json:"files,omitempty"`
	Active    []string  `json:"active,omitempty"`    // the nets that take part; none: all
	Fields    []string  `json:"fields,omitempty"`    // of arguments, that the nets read as values
	Results   []string  `json:"results,omitempty"`   // of results
	Maps      []string  `json:"maps,omitempty"`      // that give calls names, each as the begin of a hash
	Actions   []string  `json:"actions,omitempty"`   // names with a dot that nets list: for them it is read which action a call has
	Rows      bool      `json:"rows,omitempty"`      // a net counts equal calls in a row
	Arguments string    `json:"arguments,omitempty"` // what records have of arguments: hash, masked, full
}

// A File is one that a policy was read from.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// A Session event records that a session begins or ends.
type Session struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // session opened, session closed
	Session   string    `json:"session"`
	Principal string    `json:"principal"`
	Process   string    `json:"process,omitempty"`
}

// A Removed event records that old records of a database are removed: those of each of the chains
// up to a record. It is on record before they are removed, so a chain may begin after that record. An
// event has all chains that begin so, and those that are removed whole with it.
type Removed struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`   // removed
	Before  time.Time `json:"before"`  // all records that are removed are older
	Records uint64    `json:"records"` // that were removed so far, with these
	Chains  []Head    `json:"chains"`  // the last record that is removed of each
}
