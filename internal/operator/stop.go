package operator

import "time"

// A StopInfo describes a stop, during which the proxy refuses calls.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // session whose calls are refused; if empty, all sessions
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // whether the stop is not in the database and thus applies only to this process; always false without a database
}

// A Stopping is the result of [Proxy.Stop] or [Proxy.StartAgain].
type Stopping struct {
	Already bool       `json:"already"` // whether nothing has changed, because the calls were already stopped or already allowed
	Shared  bool       `json:"shared"`  // whether session states are in a database; if so, the change applies to all processes that share it, unless Alone is set
	Left    []StopInfo `json:"left"`    // stops that are now in force

	// Alone explains to an operator why the change could not be stored. It is empty if nothing
	// failed.
	Alone string `json:"alone,omitempty"`
}
