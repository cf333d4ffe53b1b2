package chaos

import (
	"encoding/json"
	"fmt"
	"time"
)

// An entry is a line in the audit log.
type entry struct {
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	Session   string    `json:"session"`
	Call      uint64    `json:"call"`
	Upstream  string    `json:"upstream"`
	Tool      string    `json:"tool"`
	Arguments string    `json:"arguments"`
	Decision  string    `json:"decision"`
	Outcome   string    `json:"outcome"`
	By        string    `json:"by"`
}

// A book reads the audit log and checks its order against the policy: everything that a call
// requires must be recorded before the call.
type book struct {
	verdict  *verdict
	ledger   *ledger
	seq      uint64
	admitted map[ticket]*call
	accounts map[string]*account // keyed by session
}

type ticket struct {
	session string
	number  uint64
}

// An account contains what one session has done so far, by upstream and tool.
type account struct {
	group                string
	first, last          time.Time
	allowed, won, lost   map[string]int
	inFlight, ticks, pay int
}

func newBook(v *verdict, l *ledger) *book {
	return &book{verdict: v, ledger: l, admitted: map[ticket]*call{}, accounts: map[string]*account{}}
}

func (b *book) read(file string) error {
	return eachLine(file, func(line []byte) error {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", b.seq+1, err)
		}
		if e.Seq != b.seq+1 {
			b.verdict.violation("line %d of the audit log comes after line %d", e.Seq, b.seq)
		}
		b.seq = e.Seq
		switch e.Event {
		case "decision":
			b.decision(e)
		case "outcome":
			b.outcome(e)
		case "start", "policy", "session opened", "session closed", "end": // these do not concern a call
		default:
			b.verdict.violation("an unexpected line of the audit log: %s", line)
		}
		return nil
	})
}

func (b *book) account(session string) *account {
	a := b.accounts[session]
	if a == nil {
		a = &account{allowed: map[string]int{}, won: map[string]int{}, lost: map[string]int{}}
		b.accounts[session] = a
	}
	return a
}

func (b *book) decision(e entry) {
	c := b.ledger.calls[e.Arguments]
	if c == nil {
		b.verdict.violation("a decision on a call that nobody made: %+v", e)
		return
	}
	if e.Decision != "allow" {
		c.refusals++
		return
	}
	c.allowed++
	c.session, c.number = e.Session, e.Call
	t := ticket{e.Session, e.Call}
	if b.admitted[t] != nil {
		b.verdict.violation("two calls have the number %d of session %s", e.Call, e.Session)
	}
	b.admitted[t] = c
	a := b.account(e.Session)
	if a.first.IsZero() {
		a.group, a.first = c.group, e.Time
	}
	if a.group != c.group {
		b.verdict.violation("session %s is that of %s and of %s", e.Session, a.group, c.group)
	}
	a.last = e.Time
	a.allowed[c.upstream+"_"+c.tool]++
	a.inFlight++
	switch c.tool {
	case toolTick:
		a.ticks++
	case toolPay:
		a.pay++
	}
	b.orderly(a, c, e)
}

// orderly checks that everything an admitted call requires has already been recorded.
func (b *book) orderly(a *account, c *call, e entry) {
	name := c.upstream + "_" + c.tool
	after := func(need string, spare int) {
		if a.allowed[name] > a.won[need]+a.lost[name]+spare {
			b.verdict.violation("line %d admits %s number %d after %d successes of %s", e.Seq, name, a.allowed[name], a.won[need], need)
		}
	}
	switch c.tool {
	case toolDelete:
		if n := a.won[c.upstream+"_"+toolBackup]; a.allowed[name] > n {
			b.verdict.violation("line %d admits %s number %d after %d backups", e.Seq, name, a.allowed[name], n)
		}
	case toolBuild:
		after("u3_"+toolDeploy, 1)
	case toolTest:
		after("u3_"+toolBuild, 0)
	case toolDeploy:
		after("u3_"+toolTest, 0)
	case toolPay:
		if a.pay > maxPay {
			b.verdict.violation("line %d admits pay number %d", e.Seq, a.pay)
		}
	}
}

func (b *book) outcome(e entry) {
	c := b.admitted[ticket{e.Session, e.Call}]
	if c == nil {
		b.verdict.violation("an outcome of a call that was not admitted: %+v", e)
		return
	}
	a := b.account(e.Session)
	name := c.upstream + "_" + c.tool
	switch e.Outcome {
	case "success":
		a.won[name]++
	case "failure":
		a.lost[name]++
	}
	if e.By != "" {
		c.late = append(c.late, e.Outcome)
		return
	}
	c.outcomes = append(c.outcomes, e.Outcome)
	a.inFlight--
}

// close checks the conditions that concern a session as a whole.
func (b *book) close() {
	for session, a := range b.accounts {
		if a.inFlight != 0 {
			b.verdict.violation("%d calls of session %s are not settled", a.inFlight, session)
		}
		if most := maxTick * (2 + int(a.last.Sub(a.first)/time.Second)); a.ticks > most {
			b.verdict.violation("session %s has made %d ticks in %v", session, a.ticks, a.last.Sub(a.first))
		}
	}
}
