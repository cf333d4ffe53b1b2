package check

import (
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// maxPlayed is the maximum number of calls that are replayed to find out how many people must
// approve the last call of a trace.
const maxPlayed = 10_000

// asked returns the number of people who must approve the last call in the trace, or 0 if no
// approval is required.
func (v *Analysis) asked(t verify.Trace) (people int) {
	now := time.Unix(0, 0)
	session := gate.NewSession(v.policy, gate.SessionOptions{Time: now})
	numbers, results, played := make(map[int]uint64), make(map[int]string), 0
	end := func(call int, o gate.Outcome) {
		e := gate.End{Outcome: o, Time: now}
		if results[call] != "" {
			e.Result = []byte(results[call])
		}
		session.End(numbers[call], e)
	}
	for _, s := range t {
		switch {
		case s.Wait > 0:
			now = now.Add(s.Wait * time.Duration(max(1, s.Times)))
			session.Tick(now)
			continue
		case s.Ends:
			end(s.Call, s.Outcome)
			continue
		}
		c := v.tools.call(s)
		c.Time = now
		for range max(1, s.Times) {
			if played++; played > maxPlayed {
				return 0
			}
			people = 0
			d := session.Decide(c, nil)
			if ask, ok := d.(*gate.Ask); ok {
				people = ask.Approvals()
				d = session.Decide(c, ask.Grant())
			}
			if allow, ok := d.(*gate.Allow); ok {
				numbers[s.Call], results[s.Call] = allow.Ticket.Number, s.Result
			}
			if s.Times > 0 {
				end(s.Call, gate.Success)
			}
		}
	}
	return people
}
