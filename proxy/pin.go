package proxy

import (
	"errors"

	"github.com/petrigate/petrigate/internal/pin"
)

// An Actor is who gives an order to a proxy.
type Actor struct {
	Name string // for the record
	PIN  string // that the person has typed; it is needed where approvals need one
}

// permit returns why an order that could let a call pass is not carried out: where approvals
// need a PIN, it needs it as well. A wrong one goes on record, with what was ordered.
func permit(p *Proxy, a Actor, session, order string) error {
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
