package operator

import "time"

// A StopInfo describes a stop: the proxy refuses calls until the stop ends.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // session whose calls are refused; if empty, all sessions
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // whether the stop affects only this process, because it could not be written to the database
}

// A Stopping is the result of stopping calls or allowing them again.
type Stopping struct {
	Already bool       `json:"already"` // whether nothing changed, because the calls were already stopped or allowed
	Shared  bool       `json:"shared"`  // whether the change affects all processes that share the database, and not only this one
	Left    []StopInfo `json:"left"`    // stops that are now in force

	// Alone is empty if the change was written to the database. Otherwise, it explains why only
	// this process is affected, and what follows from that.
	Alone string `json:"alone,omitempty"`
}
