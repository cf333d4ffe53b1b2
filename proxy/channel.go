package proxy

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// Channels by which people answer.
const (
	viaElicit = "elicit" // the client asks
	viaCLI    = "cli"    // an operator's terminal
)

// viaOf is the channel by which the steps of a question want it answered; empty:
// any. One answer cannot come by two.
func viaOf(q *gate.Ask) (string, error) {
	via := ""
	for _, s := range q.Steps {
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

// allows reports whether an answer may come by the channel.
func (r *approval) allows(channel string) bool { return r.via == "" || r.via == channel }

// elicits reports whether r may be put before the client's person.
func (p *Proxy) elicits(r *approval) bool { return p.options.Approval.Elicit && r.allows(viaElicit) }

// operated reports whether r may be answered at an operator's terminal.
func (p *Proxy) operated(r *approval) bool { return p.options.Approval.Operator && r.allows(viaCLI) }
