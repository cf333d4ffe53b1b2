package operator

import "time"

// A Status describes the state of a running proxy. The fields Config, Listen, Reloaded,
// ReloadProblem, Audit, Webhook, Pinning and Bases are set by the daemon that runs the proxy, not
// by the proxy itself.
type Status struct {
	Version string    `json:"version"`
	Pid     int       `json:"pid"`
	Started time.Time `json:"started"`
	Policy  string    `json:"policy"`           // fingerprint of the policy in force
	Config  string    `json:"config,omitempty"` // path of the configuration file
	Listen  string    `json:"listen,omitempty"` // listen address, or "stdio"

	Reloaded      *time.Time `json:"reloaded,omitempty"`      // time of the last reload; nil before the first reload
	ReloadProblem string     `json:"reloadProblem,omitempty"` // why the last reload was not applied; empty if it was applied

	Shadow     bool             `json:"shadow"`        // whether all nets are in shadow mode; if so, no calls are refused
	PIN        bool             `json:"pin,omitempty"` // whether the approval PIN is required for actions that could let a call pass, such as allowing stopped calls again
	Upstreams  []UpstreamStatus `json:"upstreams"`
	Clients    int              `json:"clients"`
	Sessions   int              `json:"sessions"`
	Tools      int              `json:"tools"`
	Waiting    int              `json:"waiting"` // number of pending approvals
	State      StateInfo        `json:"state"`
	Audit      *AuditInfo       `json:"audit,omitempty"`   // nil if no audit file is configured
	Webhook    *WebhookInfo     `json:"webhook,omitempty"` // nil if no webhook is configured
	Pinning    string           `json:"pinning,omitempty"` // how the proxy reacts to a changed tool definition: "warn", "enforce" or "off"
	Bases      []BaseInfo       `json:"bases,omitempty"`
	Stopped    []StopInfo       `json:"stopped"`
	Goroutines int              `json:"goroutines"`
	LeftOut    []string         `json:"leftOut"`  // tools that are not exposed to clients, each with the reason
	Warnings   []string         `json:"warnings"` // warnings about tools and their configuration
	Crowded    string           `json:"-"`        // warning about too many tools, or ""
}

// An UpstreamStatus describes one upstream.
type UpstreamStatus struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Protocol string    `json:"protocol,omitempty"`
	Pid      int       `json:"pid,omitempty"`
	Since    time.Time `json:"since"`
	Error    string    `json:"error,omitempty"`
	Said     []string  `json:"said,omitempty"`     // last lines that the upstream's process wrote to stderr; set only while the upstream is down
	Sessions int       `json:"sessions,omitempty"` // number of sessions that have their own connection to the upstream
}

// A BaseInfo describes a base policy of the current policy.
type BaseInfo struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	Key     string `json:"key,omitempty"`  // ID of the key that signed the base
	From    string `json:"from"`           // file name or URL of the base
	Copy    string `json:"copy,omitempty"` // why a stored copy of the base was used; empty if the base was read from its file or URL
}

// A WebhookInfo describes the approval webhook.
type WebhookInfo struct {
	Host    string     `json:"host"`            // host that the requests for approval are sent to
	Answers string     `json:"answers"`         // URL that answers must be sent to
	Open    int        `json:"open"`            // number of pending approval requests for the webhook
	Error   string     `json:"error,omitempty"` // why the last post to the webhook failed; empty if it succeeded
	Since   *time.Time `json:"since,omitempty"` // when posts to the webhook began to fail; nil if the last post succeeded
}

// An AuditInfo describes the audit file.
type AuditInfo struct {
	File    string     `json:"file"`
	Records uint64     `json:"records"`           // sequence number of the last record; rotating the file does not reset it
	Error   string     `json:"error,omitempty"`   // why no records can be written and all calls are refused; empty if records can be written
	Aside   int        `json:"aside"`             // number of rotated files
	Rotated *time.Time `json:"rotated,omitempty"` // time of the last rotation
}

// A StateInfo describes where session states are stored.
type StateInfo struct {
	Driver  string        `json:"driver"`          // "memory", "sqlite" or "postgres"; set by the daemon
	Place   string        `json:"place,omitempty"` // location of the database, without secrets; set by the daemon
	Since   time.Time     `json:"since,omitzero"`  // when the database was opened
	Process string        `json:"process,omitempty"`
	Records uint64        `json:"records,omitempty"` // number of records in the database, including those of other processes
	Error   string        `json:"error,omitempty"`   // why the database does not work and calls are refused; empty if it works
	Unknown []UnknownCall `json:"unknown"`           // calls whose outcome is not stored, because their process has ended or could not store it
}

// An UnknownCall is a call whose outcome is not in the store. If the process that admitted the call
// has ended, an operator must set the outcome. Otherwise, the proxy knows the outcome, but has not
// been able to store it yet.
type UnknownCall struct {
	Session string    `json:"session"`
	Process string    `json:"process"` // process that admitted the call; empty if the call was admitted by an old version of petrigate that did not record the process
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Since   time.Time `json:"since"`
	Outcome string    `json:"outcome,omitempty"` // outcome that is known but has not been stored yet; otherwise empty
}
