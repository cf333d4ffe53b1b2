package operator

import "time"

// A StopInfo describes a stop, during which the proxy refuses calls.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // session whose calls are refused; if empty, all sessions
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // whether the stop applies only to this process, because it could not be written to the database
}

// A Stopping is the result of [Proxy.Stop] or [Proxy.StartAgain].
type Stopping struct {
	Already bool       `json:"already"` // whether nothing has changed, because the calls were already stopped or already allowed
	Shared  bool       `json:"shared"`  // whether the change applies to all processes that share the database, rather than to this process alone
	Left    []StopInfo `json:"left"`    // stops that are now in force

	// Alone explains why the change could not be recorded or written to the database, and names the
	// consequences. It is empty if there was no such failure.
	Alone string `json:"alone,omitempty"`
}
