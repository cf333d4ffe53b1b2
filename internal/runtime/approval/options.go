package approval

import (
	"log/slog"
	"time"
)

// Options configures a [Broker].
type Options struct {
	Expire   time.Duration // validity of a request, and of an approval
	Cooldown time.Duration // how long a denial remains in force
	Channels []string      // configured channels; answers through others do not count
	Grants   time.Duration // maximum lifetime of a grant; 0: no grants
	Now      func() time.Time
	Mask     Mask // hides values from people; nil: nothing is hidden

	Self   bool              // callers may approve their own calls
	People map[string]string // principals by person

	// Answered is called for each request that stops waiting, under the lock of the broker; may be
	// nil.
	Answered func(state, channel string, waited time.Duration)

	// Granted is called for each request that a grant approves when it is opened; may be nil.
	Granted func(Record)

	Store Store        // persists requests and shares them with other brokers; nil: no persistence
	Log   *slog.Logger // nil: discard
}
