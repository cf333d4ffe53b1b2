package proxy

import (
	"errors"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/pin"
)

// checkOrderPIN returns why an order that could let a call pass is refused: if approvals need a
// PIN, such orders need it too. A wrong PIN is recorded with the order.
func (p *approvalControl) checkOrderPIN(a operator.Actor, session, order string) error {
	return p.checkPIN(a.PIN, func() error {
		return p.admission.Note(p.life.Ctx, "wrong pin", session, a.Name, "to "+order)
	})
}

// checkPIN returns why the typed PIN does not count, or nil. It calls note to record a wrong PIN.
func (p *approvalControl) checkPIN(typed string, note func() error) error {
	err := p.pin.Check(typed)
	if err == nil || errors.Is(err, pin.ErrMissing) {
		return err
	}
	return errors.Join(err, note())
}
