package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// A Simulator executes commands typed by a user.
type Simulator struct {
	of       *Simulation
	out      io.Writer
	ink      text.Ink
	terminal bool // whether both input and output are terminals
	moves    []move
	calls    []*trackedCall // the call with number n is at index n-1
	Mistakes int            // number of invalid commands
}

// NewSimulator returns a simulator that writes to out. On a terminal, it prints a prompt and does
// not echo the commands.
func NewSimulator(s *Simulation, out io.Writer, ink text.Ink, terminal bool) *Simulator {
	return &Simulator{of: s, out: out, ink: ink, terminal: terminal}
}

func (m *Simulator) printf(format string, args ...any) { _, _ = fmt.Fprintf(m.out, format, args...) }

// A move is a command that changes the state. It can be undone and recorded.
type move struct {
	word string // "call", "succeed", "fail", "unknown", "approve", "deny" or "after"
	call Call
	of   int // number of the call; 0 for "after"
	time time.Duration
	says json.RawMessage // result of the call, for "succeed"; may be nil
}

func (mv move) String() string {
	switch mv.word {
	case "call":
		return "call " + mv.call.String()
	case "after":
		return "after " + text.Exact(mv.time)
	default:
		return strings.TrimSpace(fmt.Sprintf("%s %d %s", mv.word, mv.of, mv.says))
	}
}

// A trackedCall is a call and its state.
type trackedCall struct {
	written Call
	state   callState
	refusal *gate.Refusal // refusal or approval request
	people  int           // number of different people who must approve the call, if it waits for approval
	agreed  int           // number of people who have approved
	would   *gate.Refusal // the refusal that shadow nets would cause if they were enforced; may be nil
}

type callState string

const (
	callRefused callState = "is refused"
	callWaits   callState = "waits for a person"
	callRuns    callState = "runs"
	callEnded   callState = "has ended"
)

// progress describes the state of the call. If the call is waiting for several approvals, the
// description includes their number.
func (c *trackedCall) progress() string {
	switch {
	case c.state != callWaits || c.people < 2:
		return string(c.state)
	case c.agreed == 0:
		return "waits for " + text.People(c.people, "", "")
	default:
		return fmt.Sprintf("waits, %d of %s agreed", c.agreed, text.People(c.people, "", "have"))
	}
}

// addApproval counts one more approval and reports whether the call now has enough approvals.
func (c *trackedCall) addApproval() bool {
	c.agreed++
	return c.agreed >= c.people
}

func (c *trackedCall) decided(d gate.Decision) {
	switch d := d.(type) {
	case *gate.Allow:
		c.state, c.refusal, c.would = callRuns, nil, d.Would
	case *gate.Ask:
		c.state, c.refusal, c.people = callWaits, d.Refusal(), d.Approvals()
	case *gate.Refusal:
		c.state, c.refusal = callRefused, d
	}
}

// endings maps each command that ends a call to the outcome of the call and to the text that
// reports it.
var endings = map[string]struct {
	outcome gate.Outcome
	told    string
}{
	"succeed": {gate.Success, "has succeeded"},
	"fail":    {gate.Failure, "has failed"},
	"unknown": {gate.Unknown, "may have succeeded or failed; succeed or fail can still settle it"},
}
