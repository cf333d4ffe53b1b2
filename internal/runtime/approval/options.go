package approval

import (
	"log/slog"
	"time"
)

// Options configures a [Broker].
type Options struct {
	Expire   time.Duration // how long a request or approval is valid
	Cooldown time.Duration // how long a denial remains in force
	Channels []string      // configured channels; answers through any other channel do not count
	Grants   time.Duration // maximum lifetime of a grant; 0 disables grants
	Now      func() time.Time
	Mask     Mask // masks values that people must not see; may be nil

	Self   bool              // whether callers may approve their own calls
	People map[string]string // maps the name of a person to the principal that makes the person's own calls

	// Answered is called, with the broker's lock held, when a request stops being pending. It may
	// be nil.
	Answered func(state, channel string, waited time.Duration)

	// Granted is called for each request that a grant approves when the request is opened. It may
	// be nil.
	Granted func(Record)

	Store Store        // keeps requests and shares them with other brokers; if nil, requests are lost when the process exits
	Log   *slog.Logger // nil discards log output
}
