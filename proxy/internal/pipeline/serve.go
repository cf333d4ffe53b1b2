package pipeline

import (
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Serve routes a call through admission and forwards it if it is admitted; the server's reply
// arrives at [inflightCall.finish]. The order is a security property: nothing is sent before the
// decision is on record. Serve runs on the goroutine that reads the client's messages and never
// blocks there: a step that has to wait spawns the rest of the call.
func (p *Pipeline) Serve(c *Call) {
	if c.Method == spec.CallTool {
		p.Came(c.params.Name)
	}
	for _, step := range [...]func(*Call) (next bool){
		p.resolve,    // the tool, waiting for servers that start; check the headers that mirror its arguments
		p.place,      // the connection that serves the session
		p.resume,     // another round of a call that was admitted before: it continues without a new decision
		p.admissible, // task mode, server up, decision recordable, within the limits: spend nothing in vain
	} {
		if !step(c) { // the step has answered the call, or calls Serve again after its wait
			return
		}
	}
	d := &decided{call: c, pending: p.decide(c)}
	if !c.Burst.Add(d) {
		c.yield()
		p.proceed(c, d.pending.Wait())
	}
}

// decided is a call with a decision that is not on record yet. It is a [burst.Step].
type decided struct {
	call    *Call
	pending *admission.Pending
}

// Continue continues the call once the decision is on record.
func (d *decided) Continue() {
	c := d.call
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	c.pipeline.proceed(c, d.pending.Wait())
}

// decide stages the decision of the gate once the call has its turn.
func (p *Pipeline) decide(c *Call) *admission.Pending {
	c.Turn.Acquire(nil)
	defer c.Turn.Release()
	return p.Admission.Stage(c.trace.context(p.Life.Ctx), c.admission())
}
