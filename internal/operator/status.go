package operator

import "time"

// A Status describes the state of a running proxy. The proxy itself leaves Config, Listen,
// Reloaded, ReloadProblem, Audit, Webhook, Pinning and Bases empty; the daemon that runs the proxy
// sets them.
type Status struct {
	Version string    `json:"version"`
	Pid     int       `json:"pid"`
	Started time.Time `json:"started"`
	Policy  string    `json:"policy"`           // fingerprint of the policy in force
	Config  string    `json:"config,omitempty"` // path of the configuration file
	Listen  string    `json:"listen,omitempty"` // listen address, or stdio

	Reloaded      *time.Time `json:"reloaded,omitempty"`      // time of the last reload
	ReloadProblem string     `json:"reloadProblem,omitempty"` // why the last reload was not applied; empty if it was applied

	Shadow     bool             `json:"shadow"`        // whether no net is enforced, so that nothing is refused
	PIN        bool             `json:"pin,omitempty"` // whether orders that could let a call pass require the approval PIN
	Upstreams  []UpstreamStatus `json:"upstreams"`
	Clients    int              `json:"clients"`
	Sessions   int              `json:"sessions"`
	Tools      int              `json:"tools"`
	Waiting    int              `json:"waiting"` // number of pending approvals
	State      StateInfo        `json:"state"`
	Audit      *AuditInfo       `json:"audit,omitempty"`   // nil: no audit file
	Webhook    *WebhookInfo     `json:"webhook,omitempty"` // nil: no webhook
	Pinning    string           `json:"pinning,omitempty"` // what the proxy does if a tool's definition changes: "warn", "enforce" or "off"
	Bases      []BaseInfo       `json:"bases,omitempty"`
	Stopped    []StopInfo       `json:"stopped"`
	Goroutines int              `json:"goroutines"`
	LeftOut    []string         `json:"leftOut"`  // tools that are not exposed, each with the reason
	Warnings   []string         `json:"warnings"` // warnings about the tools and their configuration
	Crowded    string           `json:"-"`        // the warning that there are too many tools; empty: none
}

// An UpstreamStatus describes one upstream.
type UpstreamStatus struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Protocol string    `json:"protocol,omitempty"`
	Pid      int       `json:"pid,omitempty"`
	Since    time.Time `json:"since"`
	Error    string    `json:"error,omitempty"`
	Said     []string  `json:"said,omitempty"`     // last lines that the upstream's process has written to stderr; set only while the upstream is down
	Sessions int       `json:"sessions,omitempty"` // number of sessions that have their own connection to the upstream
}

// A BaseInfo describes one base policy of the policy in force.
type BaseInfo struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	Key     string `json:"key,omitempty"`  // ID of the key that signed the base
	From    string `json:"from"`           // file or URL of the base
	Copy    string `json:"copy,omitempty"` // why a stored copy was used instead of the URL; empty if no copy was used
}

// A WebhookInfo describes the approval webhook.
type WebhookInfo struct {
	Host    string     `json:"host"`            // host that receives requests for approval
	Answers string     `json:"answers"`         // URL where answers must be sent
	Open    int        `json:"open"`            // number of open requests that are being posted
	Error   string     `json:"error,omitempty"` // why the last post failed; empty if it did not fail
	Since   *time.Time `json:"since,omitempty"` // time of the first failure, if Error is set
}

// An AuditInfo describes the audit file.
type AuditInfo struct {
	File    string     `json:"file"`
	Records uint64     `json:"records"`           // number of the last record, including the records in rotated files
	Error   string     `json:"error,omitempty"`   // why the last records could not be written, so that calls are refused; empty if they were written
	Aside   int        `json:"aside"`             // number of rotated files
	Rotated *time.Time `json:"rotated,omitempty"` // time of the last rotation
}

// A StateInfo describes where session states are stored.
type StateInfo struct {
	Driver  string        `json:"driver"`          // "memory", "sqlite" or "postgres"; set by the daemon
	Place   string        `json:"place,omitempty"` // location of the database, without secrets; set by the daemon
	Since   time.Time     `json:"since,omitzero"`  // time when the database was opened
	Process string        `json:"process,omitempty"`
	Records uint64        `json:"records,omitempty"` // number of records in the database, from all processes
	Error   string        `json:"error,omitempty"`   // why no call can be decided now; empty: calls can be decided
	Unknown []UnknownCall `json:"unknown"`           // calls with an unknown outcome that an operator must settle, or that cannot be written to the store yet
}

// An UnknownCall is a call whose outcome has not been recorded. Either the process that made the
// call has ended, so that an operator must settle the call, or this process knows the outcome but
// has not been able to write it yet.
type UnknownCall struct {
	Session string    `json:"session"`
	Process string    `json:"process"` // process that admitted the call; empty if an older version of petrigate admitted it, which did not record the process
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Since   time.Time `json:"since"`
	Outcome string    `json:"outcome,omitempty"` // outcome that this process knows but has not recorded yet, because the store does not accept it now
}
