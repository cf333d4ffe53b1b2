package proxy

import (
	"errors"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/pin"
)

// permit returns why an order that could let a call pass is not carried out: where approvals
// need a PIN, it needs it as well. A wrong one goes on record, with what was ordered.
func permit(p *Proxy, a operator.Actor, session, order string) error {
	return checkPIN(p, a.PIN, func() error {
		return p.admission.Note(p.life.Ctx, "wrong pin", session, a.Name, "to "+order)
	})
}

// checkPIN returns why what was typed does not count as the PIN of the proxy. A wrong one is put
// on record by note.
func checkPIN(p *Proxy, typed string, note func() error) error {
	err := p.pin.Check(typed)
	if err == nil || errors.Is(err, pin.ErrMissing) {
		return err
	}
	return errors.Join(err, note())
}
