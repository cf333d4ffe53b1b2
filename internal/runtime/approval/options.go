package approval

import (
	"log/slog"
	"time"
)

// Options configures a [Broker].
type Options struct {
	Expire   time.Duration // how long a request or an approval is valid
	Cooldown time.Duration // how long a denial remains in force
	Channels []string      // configured channels; answers through other channels do not count
	Grants   time.Duration // maximum lifetime of a grant; 0: no grants
	Now      func() time.Time
	Mask     Mask // hides values from people; nil: nothing is hidden

	Self   bool              // callers may approve their own calls
	People map[string]string // the principal that each person is

	// Answered is called under the broker's lock for each request that stops waiting. It may be
	// nil.
	Answered func(state, channel string, waited time.Duration)

	// Granted is called for each request that a grant approves when the request is opened. It may
	// be nil.
	Granted func(Record)

	Store Store        // keeps requests and shares them with other brokers; nil: requests are lost when the process ends
	Log   *slog.Logger // nil: discard
}
