package pipeline

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// admission returns the call in the form that is decided and recorded.
func (c *Call) admission() *admission.Call {
	c.admitting = admission.Call{
		Key: c.State.Key(), Gate: c.admitting.Gate, Offered: c.pipeline.Pool.Catalogue.Load().Calls,
		Client: c.Peer.Name, ID: c.ID, Upstream: c.Tool.Upstream.Config.Name,
		Tool: c.recordedName(), Method: c.Method, Canonical: c.Tool.Canonical, Digest: c.digest,
	}
	if c.params.HasState && c.Peer.Rev.InputRequired && !c.input.ours {
		c.admitting.Invalid = seal.ErrState
	}
	return &c.admitting
}

// recordedName returns the name in the audit log: the tool's own name, or the canonical name of a
// prompt or resource.
func (c *Call) recordedName() string {
	if c.Method == spec.CallTool {
		return c.Tool.Name
	}
	return c.Tool.Canonical
}

// RecordRefusal records a refusal that was not caused by a net. The call is refused even if
// recording fails.
func (p *Pipeline) RecordRefusal(c *Call, r refusal) {
	p.Admission.Refused(p.Life.Ctx, c.admission(), r.Refused)
}

// dropMessage drops the message of a sent call: its arguments can be large, and a client or server
// that does not answer would make the proxy keep them. The digest of the arguments stays if the
// call can have further rounds.
func (c *Call) dropMessage() {
	c.uncountWaiting()
	if c.Peer.Rev.InputRequired {
		c.digest = c.argumentsDigest()
	}
	c.params, c.input.responses = c.params.Reduced(), nil
	c.admitting.Gate = gate.Call{Time: c.admitting.Gate.Time}
}

// argumentsDigest returns the SHA-256 of the arguments.
func (c *Call) argumentsDigest() string {
	if c.digest != "" {
		return c.digest
	}
	return wire.Digest(c.params.Arguments)
}
