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
	Generation *Generation                // initial generation
	Where      func(gate.Position) string // formats a position for people; nil: gate.Position.String
	Logger     *slog.Logger               // nil: discard
	Now        func() time.Time           // nil: time.Now
	Observer   Observer                   // nil: none
	Switch     Switch                     // the kill switch; nil: none
	Redactor   *audit.Redactor            // redacts arguments and results for records; nil: records contain only hashes
	Process    string                     // this process's name in records; empty: no name
	Meter      Meter                      // nil: calls are not counted
	Ended      func(session string)       // called after a session has ended; nil: nothing is called
}

// Admission decides on calls. It is safe for concurrent use.
type Admission struct {
	ledger Ledger
	log    *slog.Logger
	now    func() time.Time
	kill   Switch // nil: none
	onEnd  func(session string)

	records    recordBuilder
	generation inForce
	counts     counts

	Watch     Watch           // the observer and the meter
	Sessions  Sessions        // the ledger's sessions
	Unwritten Unwritten       // outcomes that the ledger has not stored yet
	Recent    RecentArguments // arguments of recently admitted calls

	// Pools of objects for reuse by later calls.
	pendings, settlings sync.Pool
}

// New returns an Admission that decides under o.Generation.
func New(o Options) *Admission {
	a := &Admission{
		ledger: o.Ledger, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), now: o.Now, Watch: Watch{o.Observer, o.Meter}, kill: o.Switch, onEnd: o.Ended,
		records: recordBuilder{where: o.Where, redactor: cmp.Or(o.Redactor, &audit.Redactor{}), process: o.Process},
	}
	if a.records.where == nil {
		a.records.where = gate.Position.String
	}
	a.records.where = (&positions{text: a.records.where}).textOf
	if a.now == nil {
		a.now = time.Now
	}
	a.records.now = a.now
	a.Sessions.admission = a
	a.Unwritten.admission, a.Unwritten.wake = a, make(chan struct{}, 1)
	a.generation.Store(o.Generation)
	return a
}
