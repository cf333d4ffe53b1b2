package gate

// A Ticket is the duty to say how an admitted call ended.
type Ticket struct {
	Number  uint64
	session *Session
}

// Settle says how the call ended. Only the first of Success and Failure counts;
// after Unknown the call stays open and can still be settled.
// It reports whether it changed anything.
func (t *Ticket) Settle(o Outcome) bool { return t.session.Settle(t.Number, o) }

// Close settles as [Unknown] unless the call is settled.
func (t *Ticket) Close() { panic("TODO") }

// A Session holds the state of every net of a policy for one conversation.
// It is safe for concurrent use.
type Session struct{}

// PolicyOptions are what the nets of a policy share. The zero value is ready to use.
type PolicyOptions struct {
	Maps []Map // give labels to calls, for the nets with Labels
	Deny bool  // default: deny; a call that no active net knows is refused
}

// Policy is an immutable set of nets that decide together. It is safe for concurrent use.
type Policy struct{}

// NewPolicy checks the nets. Its error, if any, is an [ErrorList].
func NewPolicy(nets []Net, o PolicyOptions) (*Policy, error) { panic("TODO") }

// SessionOptions configure a session. The zero value is ready to use.
type SessionOptions struct {
	Active []string // the nets that are active at the start; nil: all; unknown names are ignored
}

// NewSession makes a session in the initial state.
func NewSession(p *Policy, o SessionOptions) *Session { panic("TODO") }

// Decide answers c on the present state: an [Allow] with a ticket, a [Refusal], or an [Ask].
// It never waits. With the answer to an Ask, call it again with the grant.
func (s *Session) Decide(c Call, g *Grant) Decision { panic("TODO") }

// Withdraw ends a waiting call that will not be decided again.
func (s *Session) Withdraw(a *Ask) { panic("TODO") }

// Settle is [Ticket.Settle] for a call known by its number.
func (s *Session) Settle(number uint64, o Outcome) bool { panic("TODO") }

// Activate makes a net take part in decisions again, from where it left off.
func (s *Session) Activate(net string) error { panic("TODO") }

// Deactivate takes a net out of decisions; its state is kept.
func (s *Session) Deactivate(net string) error { panic("TODO") }

// Nets is the state of every net, in the order of the policy.
func (s *Session) Nets() []NetState { panic("TODO") }

// Open lists the calls that were admitted and not settled, oldest first.
func (s *Session) Open() []Holder { panic("TODO") }

// Reset puts every net back to its start; calls in flight settle without effect.
func (s *Session) Reset() { panic("TODO") }

// Status is one line for each net: its name, whether it is active, its marking.
func (s *Session) Status() string { panic("TODO") }

// A NetState is a copy of the state of one net.
type NetState struct {
	Name     string
	Active   bool
	Marking  Marking // tokens in flight are counted where they came from
	InFlight []InFlight
	Meta     Meta
}

// InFlight is a deferred transition whose call has not ended.
type InFlight struct {
	Transition string
	Call       uint64
}

// A Marking says how many tokens are in each place.
type Marking []Tokens

// Tokens is one place of a [Marking].
type Tokens struct {
	Place    string
	Count    int // all tokens, those in flight included
	InFlight int
}
