package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// A Key is what a consent is for: this very call and nothing near it.
type Key struct {
	Session, Tool, Definition, Arguments, Beside, Policy, Steps string
}

// Bytes tells keys apart.
func (k Key) Bytes() []byte {
	return []byte(strings.Join([]string{k.Session, k.Tool, k.Definition, k.Arguments, k.Beside, k.Policy, k.Steps}, "\x00"))
}

// A Call is a call as a person is asked about it: the very values that are
// forwarded.
type Call struct {
	Upstream, Tool  string // the upstream's names
	Arguments       []byte // the source bytes; empty: it has none
	SHA256          string // of them
	Beside, Meta    []byte // what else is forwarded: objects; nil: nothing
	Session, Client string
	Principal       string
}

// Shown is the arguments as a person sees them.
func (c Call) Shown() []byte {
	if len(c.Arguments) == 0 {
		return []byte("{}")
	}
	return c.Arguments
}

// State is where a question stands.
type State string

// The states of a question. All but Pending and Approved are final.
const (
	Pending   State = "pending"
	Approved  State = "approved"
	Denied    State = "denied"
	Expired   State = "expired"
	Withdrawn State = "withdrawn"
	Consumed  State = "consumed"
)

// Channels by which people answer.
const (
	Elicit = "elicit" // the client asks
	CLI    = "cli"    // an operator's terminal
)

// A Question is one question to a person. How it stands, its [Book] knows.
type Question struct {
	ID      string
	Key     Key
	Call    Call
	Ask     *gate.Ask
	Via     string // the only channel by which it may be answered; empty: any
	Created time.Time
	Expires time.Time

	channels []string      // by which it may be answered: configured, and allowed by its rules
	answered chan struct{} // closed when it leaves pending

	// Guarded by the lock of the book.
	answer  Answer
	open    []string // channels where it was put
	waiters int      // calls that wait for the answer
	parked  bool     // a call was told to come back for the answer
	unasked bool     // the client said that it asked nobody
	shown   bool     // the client of the session has it before it
}

// An Answer is where a question stands and, once it is answered, who said what.
type Answer struct {
	State   State
	Channel string
	Actor   string
	Reason  string
}

// Answered is closed when the question is pending no more.
func (q *Question) Answered() <-chan struct{} { return q.answered }

// Allows reports whether the question may be put by the channel.
func (q *Question) Allows(channel string) bool { return slices.Contains(q.channels, channel) }

// Text is what a person reads: what would run, who wants it, and why they are
// asked. It is plain text for every surface. Where writes the position of a rule.
func (q *Question) Text(where func(gate.Position) string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %s on upstream %s?\n", text.Escape(q.Call.Tool), text.Escape(q.Call.Upstream))
	for _, s := range q.Ask.Steps {
		fmt.Fprintf(&b, "Asked by %s: %s (fires %s in net %s)\n",
			text.Escape(cmp.Or(where(s.Rule), "the policy")), text.Escape(s.Reason), text.Escape(s.Transition), text.Escape(s.Net))
	}
	if q.Call.Client != "" {
		fmt.Fprintf(&b, "Client: %s, session %s\n", text.Escape(q.Call.Client), text.Escape(q.Call.Session))
	}
	fmt.Fprintf(&b, "Arguments (%d bytes, sha256 %s):\n", len(q.Call.Arguments), q.Call.SHA256)
	b.WriteString(text.EscapeLines(rawjson.AppendIndent([]byte("  "), q.Call.Shown(), "  ", "  ")))
	writeBeside(&b, "Beside the arguments", q.Call.Beside)
	writeBeside(&b, "In _meta", q.Call.Meta)
	fmt.Fprintf(&b, "\nApproval %s, good for %s.", q.ID, text.Duration(q.Expires.Sub(now)))
	return b.String()
}

// writeBeside shows what is forwarded, and is not among the arguments.
func writeBeside(b *strings.Builder, what string, object []byte) {
	if object == nil {
		return
	}
	fmt.Fprintf(b, "\n%s:\n%s", what, text.EscapeLines(rawjson.AppendIndent([]byte("  "), object, "  ", "  ")))
}

// viaOf is the channel by which the steps of a question want it answered; empty:
// any. One answer cannot come by two.
func viaOf(ask *gate.Ask) (string, error) {
	via := ""
	for _, s := range ask.Steps {
		switch {
		case s.Via == "" || s.Via == via:
		case via == "":
			via = s.Via
		default:
			return "", fmt.Errorf("its rules want it via %s and via %s: one answer cannot come by both", via, s.Via)
		}
	}
	return via, nil
}
