package admission

import (
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A Call asks to be admitted.
type Call struct {
	Key
	Gate    gate.Call   // what the nets decide on
	Offered []gate.Call // the tools that can be called now, see [gate.Session.Offer]; nil: not known

	// Invalid is why the call is not made though the nets let it pass: it is an
	// error of the caller's, nothing is taken for it, and [Refused].Err is this error.
	Invalid error

	// What records, logs and counts say of it.
	Client    string // who calls, as it names itself
	ID        []byte // the caller's
	Upstream  string
	Tool      string // as the upstream names it
	Method    string // tools/call, prompts/get or resources/read
	Canonical string // with the upstream, unique
	Digest    string // SHA-256 of the arguments; empty: it is computed where it is needed
}

// A Consent is a person's answer that is on record with a decision.
type Consent struct{ ID, Channel, Actor string }

// A Decision is an [*Admitted], a [*Refused] or an [*Asked].
type Decision interface{ decision() }

// Admitted lets a call run. The decision is on record.
type Admitted struct{ Ticket Ticket }

// Asked is a call that waits for a person. The caller puts the question, and then
// calls [Admission.Redeem] with the consent; in any case it calls [Admission.Withdraw].
type Asked struct {
	*gate.Ask
	Generation *Generation // that asks
}

func (*Admitted) decision() {}
func (*Refused) decision()  {}
func (*Asked) decision()    {}

// A Ticket is the duty to say how an admitted call ended, by [Admission.Settle].
type Ticket struct {
	Number  uint64 // of the call in its session
	Awaited bool   // some net moves by the outcome

	key      Key
	tool     string
	names    gate.Call // without arguments, for conditions on its result
	upstream string
	since    time.Time
	policy   string    // that admitted it, see [Generation.identity]
	observed *observed // nil: there is no observer

	settled atomic.Bool // by [Admission.Settle], with success
}
