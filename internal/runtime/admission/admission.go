package admission

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Options configures an Admission. Ledger and Generation are required.
type Options struct {
	Ledger     Ledger
	Generation *Generation                // generation in force until the first swap
	Where      func(gate.Position) string // formats a rule's position for display; nil means gate.Position.String
	Logger     *slog.Logger               // nil means that log output is discarded
	Now        func() time.Time           // returns the current time; nil means time.Now
	Observer   Observer                   // nil means no observer
	Switch     Switch                     // the kill switch; nil means that calls cannot be stopped
	Redactor   *audit.Redactor            // redacts arguments and results for the audit record; nil means that only hashes are recorded
	Process    string                     // name of this process in the audit record; may be empty
	Meter      Meter                      // nil means that calls are not counted
	Ended      func(session string)       // called with the ID of each session that has ended; may be nil
}

// Admission decides whether calls may run. It is safe for concurrent use.
type Admission struct {
	ledger Ledger
	log    *slog.Logger
	now    func() time.Time
	kill   Switch // the kill switch; nil means that calls cannot be stopped
	onEnd  func(session string)

	records    recordBuilder
	generation inForce
	counts     counts

	Watch     Watch           // reports calls to the observer and the meter
	Sessions  Sessions        // the sessions in the ledger
	Unwritten Unwritten       // outcomes that the ledger has not stored yet
	Recent    RecentArguments // arguments of recently admitted calls

	// Pools of Pending and Settling values for reuse.
	pendings, settlings sync.Pool
}

// New returns an Admission whose first generation is o.Generation.
func New(o Options) *Admission {
	a := &Admission{
		ledger: o.Ledger, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), now: o.Now, Watch: Watch{o.Observer, o.Meter}, kill: o.Switch, onEnd: o.Ended,
		records: recordBuilder{where: o.Where, redactor: cmp.Or(o.Redactor, &audit.Redactor{}), process: o.Process},
	}
	if a.records.where == nil {
		a.records.where = gate.Position.String
	}
	a.records.where = (&positionCache{text: a.records.where}).textOf
	if a.now == nil {
		a.now = time.Now
	}
	a.records.now = a.now
	a.Sessions.admission = a
	a.Unwritten.admission, a.Unwritten.wake = a, make(chan struct{}, 1)
	a.generation.Store(o.Generation)
	return a
}
